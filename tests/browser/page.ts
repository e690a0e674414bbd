/** What the page loads: the whole public door, as the global `causeway`. */
export * from "../../mod.ts";
