// Says whether it may read the environment. Deno only.
console.log((await Deno.permissions.query({ name: "env" })).state);
