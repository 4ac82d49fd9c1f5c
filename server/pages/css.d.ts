/** Lets TypeScript accept imports of style sheets, which the bundler resolves. */
declare module "*.css";
