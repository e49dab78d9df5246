/** What went wrong or is missing, in words, with what helps. */

import { useState } from "react";
import { usePage } from "./navigation";
import { ServiceSource } from "./service";
import { Refusal } from "./source";

export function Failure({ error, retry }: { error: Error; retry?: () => void }) {
  const { refresh } = usePage();
  const refusal = error instanceof Refusal ? error : null;
  if (refusal?.code === "UNAUTHENTICATED") return <SignIn message={refusal.message} />;
  return (
    <div className="failure" role="alert">
      <strong>{refusal?.code === "FORBIDDEN" ? "You may not see this" : "This did not work"}</strong>
      <p>{error.message}</p>
      {refusal?.hint && <p>{refusal.hint}</p>}
      <button type="button" onClick={retry ?? refresh}>
        Try again
      </button>
    </div>
  );
}

export function SignIn({ message }: { message: string }) {
  const [token, setToken] = useState("");
  return (
    <form
      className="failure"
      role="alert"
      onSubmit={(event) => {
        event.preventDefault();
        ServiceSource.setToken(token.trim());
        location.reload();
      }}
    >
      <strong>This service needs a token</strong>
      <p>{message[0]?.toUpperCase() + message.slice(1)}. Whoever runs the service creates one: lineage token create NAME --role reader</p>
      <label>
        Token <input type="password" autoComplete="off" value={token} onChange={(event) => setToken(event.target.value)} />
      </label>
      <button type="submit" disabled={!token.trim()}>
        Use it in this tab
      </button>
    </form>
  );
}
