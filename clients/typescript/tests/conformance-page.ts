/** In a browser: plays cases of clients/conformance, and returns what failed. */
import { type Case, playOnCopies } from "./cases.ts";
import { isOffered, playOnConnection } from "./conformance.ts";

function playCases(cases: readonly Case[]): string[] {
  return cases.flatMap((each) =>
    [playOnCopies, ...(isOffered(each) ? [playOnConnection] : [])].flatMap((play) => {
      try {
        play(each);
        return [];
      } catch (error) {
        return [`${each.name}: ${error}`];
      }
    }),
  );
}

Object.assign(globalThis, { playCases });
