public import JSON

/// Why a policy file can't be used; nothing is changed.
public enum PolicyFileError: Error, Sendable {
  /// The file isn't JSON; the line if it's known.
  case notJSON(JSONError, line: Int?)
  /// Everything that's wrong in the file; never empty.
  case problems([PolicyFileProblem])
  /// The database is unavailable.
  case unavailable(Failure)
}

extension PolicyFileError: UseCaseError {}

/// Something that's wrong in a policy file, and where.
public struct PolicyFileProblem: Sendable, Equatable {
  /// The member, such as `pools[2].totp.state`.
  public let member: String
  /// The pool's project, and its tenant after a slash; nil outside a pool.
  public let pool: String?
  /// What's wrong.
  public let fault: PolicyFileFault
}

/// What's wrong with a member of a policy file.
public enum PolicyFileFault: Error, Sendable, Equatable {
  /// The member is missing.
  case missing
  /// The format has no such member.
  case unknownMember
  /// The value has another type than this one.
  case wrongType(JSONType)
  /// The value isn't one of these.
  case notOneOf([String])
  /// The number isn't in this range.
  case outOfRange(ClosedRange<Int>)
  /// The text doesn't have this many bytes.
  case wrongLength(ClosedRange<Int>)
  /// The day isn't of the form `2026-12-01`, doesn't exist, or is before ``Day/first``.
  case invalidDay
  /// The pool is in the file twice.
  case duplicatePool
  /// There's no such pool.
  case poolNotFound
  /// The pool has no TOTP configuration, so both its state and its intervals have to be given.
  case incompleteTOTP
  /// A start day is given, but the pattern isn't “mandatory”.
  case dayWithoutMandatory
  /// The file is based on another version than the current one.
  case otherVersion(current: Int)
  /// The change weakens the policy, so a reason is required.
  case reasonRequired
  /// The reason is longer than ``ActionRequest/longestNote`` characters.
  case reasonTooLong
  /// The change refuses sign-ins, and the server sends no emails with enrollment links.
  case refusalNeedsEmail
  /// The change requires a second administrator, so it has to be made in the console.
  case approvalRequired

  /// A type of a JSON value.
  public enum JSONType: String, Sendable {
    /// An object.
    case object
    /// An array.
    case array
    /// A string.
    case string
    /// A whole number.
    case integer
    /// True or false.
    case boolean
  }
}
