import { render } from "preact";

import { loadWatched } from "./account.ts";
import { loadArrangement } from "./arrangement.ts";
import { Boundary } from "./boundary.tsx";
import { Header } from "./header.tsx";
import { Notice } from "./notices.tsx";
import { RewindDialog } from "./rewind-dialog.tsx";
import { session } from "./session.ts";
import { SignIn } from "./sign-in.tsx";
import { Status } from "./status.tsx";
import { followTheme } from "./theme.ts";
import { language } from "./words.ts";
import { Workspace } from "./workspace.tsx";

function Terminal() {
  return (
    <Boundary>
      <Header />
      <Workspace />
      <Status />
      <SignIn />
      <RewindDialog />
      <Notice />
    </Boundary>
  );
}

/** Loads layout and watchlist of the account or this browser; without an answer the page stays as it is. */
function loadOwn(): void {
  void Promise.allSettled([loadArrangement(), loadWatched()]);
}

followTheme();
language.subscribe((value) => {
  document.documentElement.lang = value;
});
session.subscribe(loadOwn);
render(<Terminal />, document.getElementById("terminal") as HTMLElement);
