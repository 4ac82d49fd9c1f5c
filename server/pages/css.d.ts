/** The bundler takes style sheets too. */
declare module "*.css";
