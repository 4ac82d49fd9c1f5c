/** The examples in the help of each command, which a test runs. */

/**
 * Command lines by their descriptions, by the full name of the command. In them, `creator-metrics`
 * stands for the name of the program.
 */
export const EXAMPLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "": {
    "Look around with generated data": "creator-metrics demo",
    "Serve your own data": "creator-metrics serve",
    "Make an account and a key for it":
      "creator-metrics accounts create acme --credits 10000\ncreator-metrics keys create acme",
  },
  serve: {
    "Serve data/metrics.db on port 3000": "creator-metrics serve",
    "Serve another database on another port":
      "DATABASE_URL=file:./data/test.db PORT=8080 creator-metrics serve",
  },
  demo: {
    "Serve generated data on port 3000": "creator-metrics demo",
    "Keep the demo's database elsewhere": "DATABASE_URL=file:/tmp/demo.db creator-metrics demo",
  },
  openapi: {
    "Save the document": "creator-metrics openapi > openapi.json",
    "List the paths": "creator-metrics openapi | jq '.paths | keys'",
  },
  import: {
    "Import lines of JSON": "creator-metrics import mine.ndjson",
    "Import a table of channels": "creator-metrics import --kind channel channels.csv",
    "Import what another program prints": "cat mine.ndjson | creator-metrics import -",
  },
  export: {
    "Export everything": "creator-metrics export | gzip > all.ndjson.gz",
    "Export one kind as a table":
      "creator-metrics export --kind channel --format csv > channels.csv",
    "Export one channel since a day":
      "creator-metrics export --kind channel --id CH-soup --since 2026-11-01",
  },
  "accounts create": {
    "Create an account with 10,000 credits": "creator-metrics accounts create acme --credits 10000",
    "Create one without credits": 'creator-metrics accounts create "Globex Inc."',
  },
  "accounts set": {
    "Send a notice when fewer than 1,000 credits are left":
      "creator-metrics accounts set acme --low-balance 1000",
    "Send no notices any more": "creator-metrics accounts set acme --no-low-balance",
  },
  "accounts list": {
    "List all accounts": "creator-metrics accounts list",
    "List their names": "creator-metrics accounts list --json | jq -r '.[].name'",
  },
  "keys create": {
    "Create a key": 'creator-metrics keys create acme --label "The dashboard"',
    "Create one that reads for 90 days, and keep it in a variable":
      "KEY=$(creator-metrics keys create acme --scope read --expires 90d)",
  },
  "keys list": {
    "List the keys of an account": "creator-metrics keys list acme",
    "List them for a program": "creator-metrics keys list acme --json",
  },
  "keys rotate": {
    "Replace key 1; it stays valid for a day": "creator-metrics keys rotate 1",
    "Replace key 2 at once": "creator-metrics keys rotate 2 --overlap 0",
  },
  "keys revoke": {
    "Find the id of a key, then revoke it":
      "creator-metrics keys list acme\ncreator-metrics keys revoke 1",
    "Revoke it and print when as JSON": "creator-metrics keys revoke 1 --json",
  },
  "credits grant": {
    "Grant credits once for an invoice, however often it is repeated":
      "creator-metrics credits grant acme 5000 --reference invoice-2026-117",
    "Grant credits with a note":
      'creator-metrics credits grant acme 100 --reason "Sorry for Tuesday"',
  },
  "credits statement": {
    "Print all entries": "creator-metrics credits statement acme",
    "Print those from a day on": "creator-metrics credits statement acme --since 2026-11-01",
  },
  "credits verify": {
    "Verify all balances": "creator-metrics credits verify",
    "Verify them in a script": "creator-metrics credits verify --json || echo wrong",
  },
  "credits apply-refunds": {
    "Apply the pending refunds": "creator-metrics credits apply-refunds",
    "Apply those of another folder":
      "SPOOL_FOLDER=/tmp/spool creator-metrics credits apply-refunds",
  },
  "notices list": {
    "List the notices": "creator-metrics notices list",
    "List those that were given up, with the reasons":
      "creator-metrics notices list --state failed",
  },
  "notices resend": {
    "Send a notice again": "creator-metrics notices resend msg_0f8e3b1c5d7a49e2b6c0d4f2a1e3c5b7",
    "Print when it is due":
      "creator-metrics notices resend msg_0f8e3b1c5d7a49e2b6c0d4f2a1e3c5b7 --json",
  },
  "channels track": {
    "Track two channels": "creator-metrics channels track @nasa UCLA_DiR1FfKNvjuUpBHmylQ",
    "Track those in a file": "creator-metrics channels track --file channels.txt",
  },
  "channels untrack": {
    "Stop collecting a channel": "creator-metrics channels untrack @nasa",
    "See what is left": "creator-metrics channels list",
  },
  "channels list": {
    "List the tracked channels": "creator-metrics channels list",
    "List those that fail, and why":
      "creator-metrics channels list --json | jq '.[] | select(.failure)'",
  },
  "creators add": {
    "Add two creators": "creator-metrics creators add bsky.app nature.com",
    "Add those in a file": "creator-metrics creators add --file creators.txt",
  },
  "creators remove": {
    "Remove a creator": "creator-metrics creators remove bsky.app",
    "Remove those in a file": "creator-metrics creators remove --file creators.txt",
  },
  "creators list": {
    "List the creators": "creator-metrics creators list",
    "Save their usernames, as creators add reads them":
      "creator-metrics creators list --json | jq -r '.[].creator' > creators.txt",
  },
  status: {
    "Show the status": "creator-metrics status",
    "Print the credits that are left": "creator-metrics status --json | jq .credits.balance",
  },
  "retention apply": {
    "Count what would be deleted": "RETENTION=tweet=90d creator-metrics retention apply --dry-run",
    "Delete it": "RETENTION=tweet=90d creator-metrics retention apply",
  },
  collect: {
    "Collect once, as a cron job does": "creator-metrics collect",
    "Collect channels too": "YOUTUBE_API_KEY=... creator-metrics collect",
  },
  backup: {
    "Copy the database into a new file": "creator-metrics backup metrics-2026-11-21.db",
    "Copy it, and print the size in bytes": "creator-metrics backup copy.db --json | jq .bytes",
  },
  "tokens create": {
    "Make a token for a billing system": "creator-metrics tokens create billing",
    "Keep it in a variable of a script": "TOKEN=$(creator-metrics tokens create billing-test)",
  },
  "tokens list": {
    "List the tokens": "creator-metrics tokens list",
    "List those that nobody has used":
      "creator-metrics tokens list --json | jq '.[] | select(.last_used_at|not)'",
  },
  "tokens revoke": {
    "Revoke a token by its name": "creator-metrics tokens revoke billing",
    "Revoke it by its id": "creator-metrics tokens revoke 2",
  },
  audit: {
    "List the newest 100 changes": "creator-metrics audit",
    "List the grants of a billing system":
      'creator-metrics audit --actor billing --action "credits grant"',
  },
  completion: {
    "For bash, in ~/.bashrc": "source <(creator-metrics completion bash)",
    "For zsh, in a folder of $fpath": "creator-metrics completion zsh > ~/.zfunc/_creator-metrics",
    "For fish, in ~/.config/fish/config.fish": "creator-metrics completion fish | source",
  },
  help: {
    "Show the help of a command": "creator-metrics help keys create",
    "Show all settings": "creator-metrics help settings",
  },
};
