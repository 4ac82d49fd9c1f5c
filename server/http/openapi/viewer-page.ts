/** The page that shows the OpenAPI document with Swagger UI. */

/** What the page shows and loads. The URLs are paths of this service. */
export interface ViewerPageOptions {
  readonly title: string;
  readonly documentUrl: string;
  readonly scriptUrl: string;
  readonly styleUrl: string;
}

/** Renders the page. It remembers the API key that was entered, and sends requests at a click. */
export function renderViewerPage(options: ViewerPageOptions): string {
  const settings = {
    url: options.documentUrl,
    dom_id: "#viewer",
    deepLinking: true,
    displayRequestDuration: true,
    persistAuthorization: true,
    tryItOutEnabled: true,
    // Without this, Swagger UI sends the address of the document to a validator on the internet.
    validatorUrl: "none",
  };
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${options.title}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${options.styleUrl}">
  </head>
  <body>
    <div id="viewer"></div>
    <script src="${options.scriptUrl}"></script>
    <script>
      const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
      document.documentElement.classList.toggle("dark-mode", isDark);
      SwaggerUIBundle(${JSON.stringify(settings)});
    </script>
  </body>
</html>
`;
}
