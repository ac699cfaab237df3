import Database
import Identity

extension StartError {
  /// The error as a message for the operator.
  var text: String {
    switch self {
    case .migration(let error): error.description
    case .wrongProfile(let profile):
      """
      This data folder belongs to the \(profile.rawValue) profile. Start with --profile \
      \(profile.rawValue), or with another --data folder.
      """
    case .wrongKey:
      """
      The master key is not the one this data folder was made with. Without it its second factors \
      and signing keys cannot be read. Put the right key back.
      """
    case .empty: "The database is empty, so it isn't the one that belongs to the master key."
    case .olderServer(let steps):
      """
      The server that is running on this data folder is older than this program, which would change \
      the database under it (\(steps.joined(separator: ", "))). Restart the server with this \
      version first.
      """
    case .unavailable(let failure): "The database cannot be used: \(failure)"
    }
  }
}

extension BackupFault {
  /// The error as a message for the operator.
  var text: String {
    switch self {
    case .notCountersign: "It isn't a database of Countersign, or it's empty."
    case .damaged(let lines): "It's damaged: \(lines.joined(separator: "; "))."
    case .orphans(let tables):
      "It's damaged: \(tables.map { "a row of \($0) refers to none" }.joined(separator: "; "))."
    case .migration(let error): error.description
    case .wrongKey:
      """
      Another master key sealed it. Put the copy of master.key from the time of the backup in the \
      data folder.
      """
    case .unreadable(let reason): "It can't be read: \(reason)."
    }
  }
}

extension ClockDoubt {
  /// The doubt as a message for the operator.
  var text: String {
    """
    The clock shows \(shown.rfc3339Milliseconds), \(isBehind ? "before" : "long after") \
    \(expected.rfc3339Milliseconds), the \(isBehind ? "newest stored time" : "last time it was right")
    """
      + ". Nothing is deleted for its age and no mail is sent until the clock is set right, or an "
      + "owner confirms that it is."
  }
}

extension RevivedState.Kind {
  /// The kind as a message for the operator.
  var text: String {
    switch self {
    case .administrator: "administrator"
    case .role: "role"
    case .administratorPassword: "administrator's password, changed since"
    case .administratorFactor: "administrator's second factor, reset or replaced since"
    case .serviceToken: "service token"
    case .apiKey: "API key"
    case .trustedTokenKey: "custom token signing key"
    case .signingKey: "signing key, rotated or retired since"
    case .identityProvider: "identity provider, changed or removed since"
    case .scope: "user pool, deleted or disabled since"
    case .policy: "policy, changed since"
    case .user: "user"
    case .disabledUser: "user, disabled since"
    case .lockedUser: "user, locked changes since"
    case .password: "user's password, changed since"
    case .factor: "second factor"
    case .suspendedFactor: "second factor, suspended since"
    }
  }
}

extension Grant {
  /// The grant as a message for the operator.
  var text: String {
    guard let project else { return "\(role.rawValue) of the instance" }
    guard let tenant else { return "\(role.rawValue) of \(project.text)" }
    return "\(role.rawValue) of \(project.text)/\(tenant.text)"
  }
}
