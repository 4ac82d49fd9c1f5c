/**
 * Preloaded by the tests that run in another time zone: refuses to run where the runtime did not
 * take the zone, so that they cannot pass in UTC unnoticed.
 */
const expectedMinutes = Number(process.env["ZONE_OFFSET_MINUTES"]);
const offsetMinutes = new Date(0).getTimezoneOffset();
if (offsetMinutes !== expectedMinutes)
  throw new Error(`Wanted a zone of ${expectedMinutes} minutes, got ${offsetMinutes}`);
console.error(`in the zone of ${offsetMinutes} minutes`);
