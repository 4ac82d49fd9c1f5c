/** Folds the journal of a database file, one entry a step, without a pause. Argument: the file. */
import { openDatabase } from "../../../server/store/database/open-database.ts";
import { foldAll } from "../store/folding.ts";

const [file] = process.argv.slice(2);
const database = await openDatabase({ url: `file:${file}`, durability: "process" });
process.stdout.write("opened\n");
await foldAll(database, { stepMaxEntries: 1 });
await database.close();
