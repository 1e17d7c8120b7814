const query = new URLSearchParams(location.search);
const [pane, workspace] = [query.get("pane"), query.get("of")];

/** The ids of the pane that has this window for itself, and of its workspace; null in a window of the whole page. */
export const popOut = pane !== null && workspace !== null ? { pane, workspace } : null;

/** Opens a pane in a window of its own; returns whether the browser did. */
export function openPopOut(pane: string, workspace: string): boolean {
  const address = `?${new URLSearchParams({ pane, of: workspace })}`;
  const opened = open("", `quotecast${address}`, "popup,width=900,height=600");
  // A window that has the pane already keeps what it shows.
  if (opened?.location.href === "about:blank") opened.location.replace(location.pathname + address);
  opened?.focus();
  return opened !== null;
}
