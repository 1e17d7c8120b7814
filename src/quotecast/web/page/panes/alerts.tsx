import { Channels } from "../alerts/channels.tsx";
import { arrivals } from "../alerts/events.ts";
import { History } from "../alerts/history.tsx";
import { AlertList } from "../alerts/list.tsx";
import { newAlert } from "../alerts/open.ts";
import { alerts, loadAlerts } from "../alerts/store.ts";
import { AnswerView, Choice, type Memory, Tools, useVisible } from "../pane.tsx";
import { useSelection } from "../selection.ts";
import { useAnswer } from "../service.ts";
import { session } from "../session.ts";
import { openSignIn } from "../sign-in.tsx";
import { say, type Word } from "../words.ts";

const VIEWS = ["list", "history", "channels"] as const;
type View = (typeof VIEWS)[number];
const TITLES: Record<View, Word> = { list: "alerts", history: "alertHistory", channels: "channels" };

/** The user's alerts, the events of the last weeks, and how the service delivers them. */
export function Alerts({ memory, remember }: Memory) {
  const entered = session.value;
  const [chosen] = useSelection();
  const active = useVisible() && entered !== null;
  const answer = useAnswer(loadAlerts, `${entered?.user.id} ${arrivals.value}`, { active });
  const view = VIEWS.find((each) => each === memory.view) ?? "list";
  if (!entered)
    return (
      <div class="invitation">
        <p>{say("alertSignIn")}</p>
        <button type="button" class="main" onClick={openSignIn}>
          {say("logIn")}
        </button>
      </div>
    );
  return (
    <>
      <Tools>
        <Choice
          label={say("alerts")}
          options={VIEWS}
          value={view}
          text={(each) => say(TITLES[each])}
          onChoose={(each) => remember({ view: each })}
        />
        <button type="button" onClick={() => newAlert(chosen)}>
          + {say("alertAdd")}
        </button>
      </Tools>
      {/* A list without buttons takes the focus itself, or the keyboard could not scroll it. */}
      <div class="alerts" role="region" aria-label={say(TITLES[view])} tabIndex={view === "history" ? 0 : undefined}>
        {view === "list" && (
          <AnswerView answer={{ ...answer, data: alerts.value }}>{(rows) => <AlertList rows={rows} />}</AnswerView>
        )}
        {view === "history" && <History />}
        {view === "channels" && <Channels />}
      </div>
    </>
  );
}
