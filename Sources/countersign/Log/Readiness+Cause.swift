import Localization

extension Readiness.Check {
  var cause: Message {
    switch self {
    case .database:
      Message("database (it can't be written within 10 seconds, or its file isn't where it was)")
    case .version:
      Message(
        "version (another server has migrated the database to what only newer versions can use)")
    case .integrity:
      Message("integrity (the database file is damaged, or wasn't checked for three days)")
    case .clock:
      Message("clock (it differs from the stored times, or from that of the database's server)")
    case .keys:
      Message(
        """
        keys (the master key file is missing or isn't the database's, another server uses a newer \
        one, or there's no signing key)
        """)
    case .disk:
      Message("disk (less than 64 MiB are free, or the disk of the database's server is full)")
    case .certificate: Message("certificate (it has expired, or expires soon)")
    case .mail:
      Message("mail (the mail server can't be reached, or an email has waited for 15 minutes)")
    case .auditFile:
      Message("audit-file (it can't be written, or an entry has waited for 10 minutes)")
    }
  }
}
