import Identity
import Localization

/// The tasks that watch files which others write: the certificate, backups, and the policy file.
struct FileWatches: Sendable {
  private let tasks: [Task<Void, Never>]

  init(_ parts: ServerParts) {
    let (configuration, log) = (parts.configuration, parts.log)
    var tasks: [Task<Void, Never>] = []
    if let certificates = parts.certificates {
      tasks.append(Task { await certificates.run() })
    }
    if var watch = configuration.backups {
      watch.say = { log.add(.backup($0)) }
      tasks.append(Task { [watch] in await watch.run() })
    }
    if configuration.ignoresBackups {
      log.add(
        .backup(
          Message(
            """
            --backups has no effect: the database is on PostgreSQL, and countersign backup doesn't back \
            it up. Remove the setting, and monitor the backups of PostgreSQL.
            """)))
    }
    if let path = configuration.policyFile {
      let watch = PolicyFileWatch(
        path: path, policies: parts.instance.identity.policies, say: { log.add($0) })
      tasks.append(Task { await watch.run() })
    }
    self.tasks = tasks
  }

  /// Stops watching; doesn't wait.
  func cancel() {
    for task in tasks { task.cancel() }
  }
}
