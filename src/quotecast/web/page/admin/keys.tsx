import { moment } from "../formats.ts";
import { call, useAnswer } from "./client.ts";
import { Confirmed } from "./confirm.tsx";
import { Search, Shown, Steps, usePages } from "./pages.tsx";
import { type Column, Table } from "./table.tsx";
import type { KeyOfUser } from "./types.ts";
import { say } from "./words.ts";

/** Returns why a key does not work; nothing for one that does. */
function endOf(key: KeyOfUser): string {
  if (key.revoked_at) return `${say("revoked")} ${moment(key.revoked_at)}`;
  if (key.expires_at && Date.parse(key.expires_at) <= Date.now()) return say("expired");
  return key.user_disabled ? say("disabled") : "";
}

const COLUMNS: readonly Column<KeyOfUser>[] = [
  { word: "name", cell: (key) => key.name },
  { word: "id", cell: (key) => key.id },
  { word: "user", cell: (key) => key.email || say("ofOperator") },
  { word: "plan", cell: (key) => key.plan },
  { word: "created", cell: (key) => moment(key.created_at) },
  { word: "state", cell: endOf },
];

/** API keys of all users, with what an operator may do to each. */
export function Keys() {
  const pages = usePages();
  const answer = useAnswer<{ keys: readonly KeyOfUser[]; plans: readonly string[] }>(`/keys${pages.query}`);
  return (
    <>
      <Search onFind={pages.search} />
      <Shown answer={answer}>
        {({ keys, plans }) => (
          <>
            <Table
              title={say("keys")}
              columns={COLUMNS}
              rows={keys}
              keyOf={(key) => key.id}
              actions={(key) => !key.revoked_at && <Actions shown={key} plans={plans} onDone={answer.again} />}
            />
            <Steps before={pages.before} last={keys.at(-1)?.id} count={keys.length} onStep={pages.setBefore} />
          </>
        )}
      </Shown>
    </>
  );
}

interface ActionsProps {
  readonly shown: KeyOfUser;
  readonly plans: readonly string[];
  readonly onDone: () => void;
}

function Actions({ shown: { id, name, plan }, plans, onDone }: ActionsProps) {
  return (
    <>
      <Confirmed
        button={say("setPlan")}
        label={`${say("setPlan")} ${name}`}
        text={say("setPlanText", { name })}
        act={(given) => call("POST", `/keys/${id}/plan`, { plan: given.get("plan") })}
        onDone={onDone}
      >
        <label>
          {say("plan")}
          <select name="plan">
            {plans.map((each) => (
              <option key={each} value={each} selected={each === plan}>
                {each}
              </option>
            ))}
          </select>
        </label>
      </Confirmed>
      <Confirmed
        button={say("revoke")}
        label={`${say("revoke")} ${name}`}
        text={say("revokeText", { name })}
        act={() => call("POST", `/keys/${id}/revoke`)}
        onDone={onDone}
      />
    </>
  );
}
