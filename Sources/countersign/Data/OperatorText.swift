import Database
import Identity
import JSON

extension StartError {
  /// The error as a message for the operator.
  var text: String {
    switch self {
    case .migration(let error): error.description
    case .wrongProfile(let profile):
      """
      This data folder was created with the \(profile.rawValue) profile. Add --profile \
      \(profile.rawValue), or choose another folder with --data.
      """
    case .wrongKey:
      """
      The master key isn't the one that this data folder was created with, so its second factors \
      and signing keys can't be read. Put the original key back.
      """
    case .empty: "The database is empty, so it isn't the one that belongs to the master key."
    case .olderServer(let steps):
      """
      The server running on this data folder is an older version. This program would migrate the \
      database while that server uses it (\(steps.joined(separator: ", "))). Restart the server \
      with this version first.
      """
    case .unavailable(let failure): "The database can't be used: \(failure)"
    }
  }
}

extension BackupFault {
  /// The error as a message for the operator.
  var text: String {
    switch self {
    case .notCountersign: "It isn't a Countersign database, or it's empty."
    case .damaged(let lines): "It's damaged: \(lines.joined(separator: "; "))."
    case .orphans(let tables):
      "It's damaged: "
        + tables.map { "a row in \($0) refers to a missing row" }.joined(separator: "; ") + "."
    case .migration(let error): error.description
    case .wrongKey:
      """
      It was encrypted with another master key. Put the copy of master.key from the time of the \
      backup in the data folder.
      """
    case .unreadable(let reason): "It can't be read: \(reason)."
    }
  }
}

extension ClockDoubt {
  /// The doubt as a message for the operator.
  var text: String {
    """
    The system clock shows \(shown.rfc3339Milliseconds), \(isBehind ? "before" : "long after") \
    \(expected.rfc3339Milliseconds), \
    \(isBehind ? "the newest stored time" : "the expected time"). \
    Expired data isn't deleted and no email is sent until the clock is corrected, or an owner \
    confirms that it's correct.
    """
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
    case .lockedUser: "user, changes locked since"
    case .password: "user's password, changed since"
    case .factor: "second factor"
    case .suspendedFactor: "second factor, suspended since"
    }
  }
}

extension PolicyFileError {
  /// The error as messages for the operator, one for each problem in the file.
  func lines(of path: String) -> [String] {
    switch self {
    case .notJSON(let error, let line):
      ["\(path)\(line.map { ":\($0)" } ?? ""): \(error.description)"]
    case .problems(let problems):
      problems.map { problem in
        let pool = problem.pool.map { " (\($0))" } ?? ""
        let member = problem.member.isEmpty ? "" : " \(problem.member)\(pool):"
        return "\(path):\(member) \(problem.fault.text)"
      }
    case .unavailable(let failure): ["The database can't be used: \(failure)"]
    }
  }
}

extension PolicyFileFault {
  /// The fault as a message for the operator.
  var text: String {
    switch self {
    case .missing: "is required."
    case .unknownMember: "isn't a member of policy files."
    case .wrongType(let type): "must be of type \(type.rawValue)."
    case .notOneOf(let values): "must be one of: \(values.joined(separator: ", "))."
    case .outOfRange(let range): "must be \(range.lowerBound) to \(range.upperBound)."
    case .invalidDay: "must be a day such as 2026-12-01."
    case .duplicatePool: "is in the file twice."
    case .poolNotFound: "there's no such project or tenant."
    case .incompleteTOTP:
      "the pool has no TOTP configuration, so totp requires both state and adjacentIntervals."
    case .dayWithoutMandatory: "mandatoryFrom requires the pattern mandatory."
    case .otherVersion(let current):
      """
      the policy changed since the file was exported and is now at version \(current). Export it \
      again, and repeat your edit.
      """
    case .reasonRequired: "weakens the policy, which requires --reason."
    case .reasonTooLong:
      "the reason can have at most \(ActionRequest.longestNote) characters."
    case .approvalRequired:
      """
      weakens the policy for so many users that a second administrator must approve it. Make this \
      change in the console.
      """
    }
  }
}

extension WeakPassword {
  /// The advice as a message for the operator.
  var text: String {
    switch self {
    case .tooShort(let fewest): "Use at least \(fewest) characters."
    case .tooLong(let most): "Use at most \(most) bytes."
    case .isEmail: "Use something other than your email address."
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
