/** Types of imported style sheets, which the bundler accepts. */
declare module "*.css";
