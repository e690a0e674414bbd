/**
 * What an era throws through an author's handler.
 *
 * @module
 */

/** Ends a run of a handler and is no error: the era throws it and catches it again, and whoever is in between lets it pass. */
export class EraSignal {}
