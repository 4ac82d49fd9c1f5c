# Runs the Worker with the open-source runtime: workerd serve worker.capnp
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "storage", disk = (path = "storage", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:8787", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-17",
  bindings = [
    (name = "ACCOUNTS", durableObjectNamespace = "Account"),
    (name = "ADMIN_TOKEN", fromEnvironment = "ADMIN_TOKEN"),
  ],
  durableObjectNamespaces = [(className = "Account", uniqueKey = "accounts", enableSql = true)],
  durableObjectStorage = (localDisk = "storage"),
);
