import { Component, type ComponentChildren } from "preact";

import { forgetAll } from "./stored.ts";
import { say } from "./words.ts";

interface Props {
  readonly children: ComponentChildren;
}

/** Replaces children that fail to render by a way to recover. */
export class Boundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static override getDerivedStateFromError = () => ({ failed: true });

  override render() {
    if (!this.state.failed) return this.props.children;
    return <Failure onRetry={() => this.setState({ failed: false })} />;
  }
}

function Failure({ onRetry }: { readonly onRetry: () => void }) {
  const reset = () => {
    forgetAll();
    location.reload();
  };
  return (
    <div class="notice" role="alert">
      <p>{say("broken")}</p>
      <button type="button" onClick={onRetry}>
        {say("tryAgain")}
      </button>
      <button type="button" onClick={reset}>
        {say("resetBrowser")}
      </button>
    </div>
  );
}
