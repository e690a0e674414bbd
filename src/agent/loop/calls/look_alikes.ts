/**
 * Letters that look like others.
 *
 * @module
 */

/** Small Cyrillic and Greek letters that look like Latin ones, or whose capitals do; and those, each in the same place. */
const lookAlikes = "авгԁеһніјӏкԛморѕстԝхуѵαβεηικμνορτυχ";
const latin = "abrdehhijlkqmopsctwxyvabenikmvoptux";

/** A text in small letters, and in Latin ones where others look like them. */
export function asSeen(text: string): string {
  return text.toLowerCase().replace(/[^\0-\x7f]/g, (letter) => latin[lookAlikes.indexOf(letter)] ?? letter);
}
