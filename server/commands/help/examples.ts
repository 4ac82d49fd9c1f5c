/** The examples that the help of each command shows; a test runs them. */

/** The command lines of examples, by command and description. `$0` stands for the program. */
export const EXAMPLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "": {
    "Look around with generated data": "$0 demo",
    "Serve your own data": "$0 serve",
    "Make an account and a key for it":
      "$0 accounts create acme --credits 10000\n$0 keys create acme",
  },
  serve: {
    "Serve data/metrics.db on port 3000": "$0 serve",
    "Serve another database on another port": "DATABASE_URL=file:./data/test.db PORT=8080 $0 serve",
  },
  demo: {
    "Serve generated data on port 3000": "$0 demo",
    "Keep the demo's database elsewhere": "DATABASE_URL=file:/tmp/demo.db $0 demo",
  },
  health: {
    "Ask the service on port 3000": "$0 health",
    "Ask one on another port": "PORT=8080 $0 health",
  },
  openapi: {
    "Save the document": "$0 openapi > openapi.json",
    "List the paths": "$0 openapi | jq '.paths | keys'",
  },
  import: {
    "Import lines of JSON": "$0 import mine.ndjson",
    "Import a table of channels": "$0 import --kind channel channels.csv",
    "Import what another program prints": "cat mine.ndjson | $0 import -",
  },
  export: {
    "Export everything": "$0 export | gzip > all.ndjson.gz",
    "Export one kind as a table": "$0 export --kind channel --format csv > channels.csv",
    "Export one channel since a day": "$0 export --kind channel --id CH-soup --since 2026-11-01",
  },
  show: {
    "Show a channel": "$0 show CH-soup",
    "Print its gains for a spreadsheet": "$0 show CH-soup --kind channel --csv > soup.csv",
  },
  top: {
    "List the channels that gained most subscribers in a week": "$0 top",
    "List the shorts of a week that do best": "$0 top shorts --by ageMultiple --from -7d",
    "Print the names of those in a country": "$0 top --country IE --json | jq -r '.[].username'",
  },
  history: {
    "Print the last 30 days": "$0 history CH-soup",
    "Print each observation of the last 12 hours": "$0 history CH-soup --from -12h --interval raw",
    "Save a year by week as CSV": "$0 history CH-soup --from -52w --interval week --csv > 52w.csv",
  },
  "accounts create": {
    "Create an account with 10,000 credits": "$0 accounts create acme --credits 10000",
    "Create one without credits": '$0 accounts create "Globex Inc."',
  },
  "accounts set": {
    "Send a notice when fewer than 1,000 credits are left":
      "$0 accounts set acme --low-balance 1000",
    "Send no notices any more": "$0 accounts set acme --no-low-balance",
  },
  "accounts list": {
    "List all accounts": "$0 accounts list",
    "List their names": "$0 accounts list --json | jq -r '.[].name'",
  },
  "keys create": {
    "Create a key": '$0 keys create acme --label "The dashboard"',
    "Create one that reads for 90 days, and keep it in a variable":
      "KEY=$($0 keys create acme --scope read --expires 90d)",
  },
  "keys list": {
    "List the keys of an account": "$0 keys list acme",
    "List them for a program": "$0 keys list acme --json",
  },
  "keys rotate": {
    "Replace key 1; it stays valid for a day": "$0 keys rotate 1",
    "Replace key 2 at once": "$0 keys rotate 2 --overlap 0",
  },
  "keys revoke": {
    "Find the id of a key, then revoke it": "$0 keys list acme\n$0 keys revoke 1",
    "Revoke it and print when as JSON": "$0 keys revoke 1 --json",
  },
  "credits grant": {
    "Grant credits once for an invoice, however often it is repeated":
      "$0 credits grant acme 5000 --reference invoice-2026-117",
    "Grant credits with a note": '$0 credits grant acme 100 --reason "Sorry for Tuesday"',
  },
  "credits statement": {
    "Print all entries": "$0 credits statement acme",
    "Print those from a day on": "$0 credits statement acme --since 2026-11-01",
    "Print those of the last week": "$0 credits statement acme --since -7d",
  },
  "credits verify": {
    "Verify all balances": "$0 credits verify",
    "Verify them in a script": "$0 credits verify --json || echo wrong",
  },
  "credits apply-refunds": {
    "Apply the pending refunds": "$0 credits apply-refunds",
    "Apply those of another folder": "SPOOL_FOLDER=/tmp/spool $0 credits apply-refunds",
  },
  "notices list": {
    "List the notices": "$0 notices list",
    "List those that were given up, with the reasons": "$0 notices list --state failed",
  },
  "notices resend": {
    "Send a notice again": "$0 notices resend msg_0f8e3b1c5d7a49e2b6c0d4f2a1e3c5b7",
    "Print when it is due": "$0 notices resend msg_0f8e3b1c5d7a49e2b6c0d4f2a1e3c5b7 --json",
  },
  "channels track": {
    "Track two channels": "$0 channels track @nasa UCLA_DiR1FfKNvjuUpBHmylQ",
    "Track those in a file": "$0 channels track --file channels.txt",
  },
  "channels untrack": {
    "Stop collecting a channel": "$0 channels untrack @nasa",
    "See what is left": "$0 channels list",
  },
  "channels list": {
    "List the tracked channels": "$0 channels list",
    "List those that fail, and why": "$0 channels list --json | jq '.[] | select(.failure)'",
  },
  "creators add": {
    "Add two creators": "$0 creators add bsky.app nature.com",
    "Add those in a file": "$0 creators add --file creators.txt",
  },
  "creators remove": {
    "Remove a creator": "$0 creators remove bsky.app",
    "Remove those in a file": "$0 creators remove --file creators.txt",
  },
  "creators list": {
    "List the creators": "$0 creators list",
    "Save their usernames, as creators add reads them":
      "$0 creators list --json | jq -r '.[].creator' > creators.txt",
  },
  status: {
    "Show the status": "$0 status",
    "Print the credits that are left": "$0 status --json | jq .credits.balance",
  },
  "retention apply": {
    "Count what would be deleted": "RETENTION=tweet=90d $0 retention apply --dry-run",
    "Delete it": "RETENTION=tweet=90d $0 retention apply",
  },
  collect: {
    "Collect once, as a cron job does": "$0 collect",
    "Collect channels too": "YOUTUBE_API_KEY=... $0 collect",
  },
  backup: {
    "Copy the database into a new file": "$0 backup metrics-2026-11-21.db",
    "Copy it, and print the size in bytes": "$0 backup copy.db --json | jq .bytes",
  },
  doctor: {
    "Find what is wrong": "$0 doctor",
    "Also read the whole database": "$0 doctor --integrity",
    "List what it finds, for a program": "$0 doctor --json | jq '.[].findings[].message'",
  },
  restore: {
    "Go back to a backup": "$0 restore data/backups/metrics-2026-11-21.db",
    "Print what both have as JSON": "$0 restore data/backups/metrics-2026-11-21.db --json",
  },
  "tokens create": {
    "Make a token for a billing system": "$0 tokens create billing",
    "Keep it in a variable of a script": "TOKEN=$($0 tokens create billing-test)",
  },
  "tokens list": {
    "List the tokens": "$0 tokens list",
    "List those that nobody has used":
      "$0 tokens list --json | jq '.[] | select(.last_used_at|not)'",
  },
  "tokens revoke": {
    "Revoke a token by its name": "$0 tokens revoke billing",
    "Revoke it by its id": "$0 tokens revoke 2",
  },
  audit: {
    "List the newest 100 changes": "$0 audit",
    "List the grants of a billing system": '$0 audit --actor billing --action "credits grant"',
  },
  completion: {
    "For bash, in ~/.bashrc": "source <($0 completion bash)",
    "For zsh, in a folder of $fpath": "$0 completion zsh > ~/.zfunc/_creator-metrics",
    "For fish, in ~/.config/fish/config.fish": "$0 completion fish | source",
  },
  help: {
    "Show the help of a command": "$0 help keys create",
    "Show all settings": "$0 help settings",
  },
};
