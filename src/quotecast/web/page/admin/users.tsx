import { moment, plain } from "../formats.ts";
import { call, useAnswer } from "./client.ts";
import { Confirmed } from "./confirm.tsx";
import { Search, Shown, Steps, usePages } from "./pages.tsx";
import { type Column, Table } from "./table.tsx";
import type { UserShown } from "./types.ts";
import { say, type Word } from "./words.ts";

const COLUMNS: readonly Column<UserShown>[] = [
  { word: "email", cell: (user) => user.email },
  { word: "name", cell: (user) => user.name },
  { word: "id", cell: (user) => user.id },
  { word: "created", cell: (user) => moment(user.created_at) },
  { word: "sessions", cell: (user) => plain(user.sessions), isNumber: true },
  { word: "keys", cell: (user) => plain(user.keys), isNumber: true },
  {
    word: "state",
    cell: (user) => [user.operator && say("operator"), user.disabled && say("disabled")].filter(Boolean).join(", "),
  },
];

/** Users, with what an operator may do to each. */
export function Users() {
  const pages = usePages();
  const answer = useAnswer<readonly UserShown[]>(`/users${pages.query}`);
  return (
    <>
      <Search onFind={pages.search} />
      <Shown answer={answer}>
        {(users) => (
          <>
            <Table
              title={say("users")}
              columns={COLUMNS}
              rows={users}
              keyOf={(user) => user.id}
              actions={(user) => <Actions user={user} onDone={answer.again} />}
            />
            <Steps before={pages.before} last={users.at(-1)?.id} count={users.length} onStep={pages.setBefore} />
          </>
        )}
      </Shown>
    </>
  );
}

function Actions({ user, onDone }: { readonly user: UserShown; readonly onDone: () => void }) {
  const confirmed = (action: string, button: Word, text: Word) => (
    <Confirmed
      key={action}
      button={say(button)}
      label={`${say(button)} ${user.email}`}
      text={say(text, { name: user.email })}
      act={() => call("POST", `/users/${user.id}/${action}`)}
      onDone={onDone}
    />
  );
  return (
    <>
      {user.disabled ? confirmed("enable", "enable", "enableText") : confirmed("disable", "disable", "disableText")}
      {user.sessions > 0 && confirmed("revoke", "endSessions", "endSessionsText")}
    </>
  );
}
