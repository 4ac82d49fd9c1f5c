/**
 * Preload of test processes in another time zone. It fails if the runtime ignored the zone, so that the
 * tests cannot pass in UTC unnoticed.
 */
const expectedMinutes = Number(process.env["ZONE_OFFSET_MINUTES"]);
const offsetMinutes = new Date(0).getTimezoneOffset();
if (offsetMinutes !== expectedMinutes)
  throw new Error(`Wanted a zone of ${expectedMinutes} minutes, got ${offsetMinutes}`);
console.error(`in the zone of ${offsetMinutes} minutes`);
