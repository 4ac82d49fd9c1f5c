/** Starts Swagger UI in viewer.html, whose policy allows no script inside the document. */
const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.classList.toggle("dark-mode", isDark);
// Keys and tokens are forgotten with the page. Earlier versions stored them under this name.
localStorage.removeItem("authorized");
SwaggerUIBundle({
  // Relative, so that the page also works below a prefix.
  url: "swagger/json",
  dom_id: "#viewer",
  deepLinking: true,
  displayRequestDuration: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  // By default, Swagger UI sends the address of the document to a validator on the internet.
  validatorUrl: "none",
});
