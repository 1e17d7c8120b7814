import { computed } from "@preact/signals";
import { render } from "preact";

import { loadWatched } from "./account.ts";
import { followAddress, followWorkspace, settleWorkspace } from "./address.ts";
import { offerAlerts } from "./alerts/open.ts";
import { AlertParts } from "./alerts/parts.tsx";
import { loadArrangement } from "./arrangement.ts";
import { Boundary } from "./boundary.tsx";
import { followDensity } from "./density.ts";
import { Header } from "./header.tsx";
import { KeyList } from "./key-list.tsx";
import { bridgeOutages, shownFrom } from "./last-visit.ts";
import { Notice } from "./notices.tsx";
import { popOut } from "./pop-out.ts";
import { followRewind } from "./replay.ts";
import { answered } from "./retried.ts";
import { RewindDialog } from "./rewind-dialog.tsx";
import { registerWorker } from "./service-worker.ts";
import { acceptToken, session } from "./session.ts";
import { ShellNotices } from "./shell.tsx";
import { SignIn } from "./sign-in.tsx";
import { Status } from "./status.tsx";
import { followTheme } from "./theme.ts";
import { followTitle } from "./title.ts";
import { language } from "./words.ts";
import { PoppedPane, Workspace } from "./workspace.tsx";

function Terminal() {
  return (
    <Boundary>
      {!popOut && <Header />}
      {/* Made afresh when the last visit's quotes go: a symbol that the service no longer has must not stay. */}
      {popOut ? <PoppedPane {...popOut} /> : <Workspace key={String(shownFrom.value)} />}
      <Status />
      <SignIn />
      <RewindDialog />
      <KeyList />
      <Notice />
      <AlertParts />
      <ShellNotices />
    </Boundary>
  );
}

/** Loads layout and watchlist of the account or this browser; until an answer the page stays as it is. */
function loadOwn(): void {
  const user = session.value?.user.id;
  const ownLayout = answered(loadOrSettle, () => session.value?.user.id === user);
  void Promise.allSettled([ownLayout.then(acceptToken).then(() => settleWorkspace()), loadWatched()]);
}

/** After a failure the reader works on with what is there. */
const loadOrSettle = () =>
  loadArrangement().catch((error) => {
    settleWorkspace(error);
    throw error;
  });

followTheme();
followDensity();
if (!popOut) {
  followAddress();
  followWorkspace();
  followTitle();
}
offerAlerts();
bridgeOutages();
followRewind();
registerWorker();
language.subscribe((value) => {
  document.documentElement.lang = value;
});
computed(() => session.value?.user.id).subscribe(loadOwn);
render(<Terminal />, document.getElementById("terminal") as HTMLElement);
