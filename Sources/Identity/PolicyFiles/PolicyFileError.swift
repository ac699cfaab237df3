public import JSON

/// Why a policy file can't be used; nothing is changed.
public enum PolicyFileError: Error, Sendable {
  /// The file isn't JSON; the line if it's known.
  case notJSON(JSONError, line: Int?)
  /// Everything that's wrong in the file; never empty.
  case problems([PolicyFileProblem])
}

public struct PolicyFileProblem: Sendable, Equatable {
  /// The member, such as `pools[2].totp.state`.
  public let member: String
  /// The pool's project, and its tenant after a slash; nil outside a pool.
  public let pool: String?
  public let fault: PolicyFileFault
}

public enum PolicyFileFault: Error, Sendable, Equatable {
  case missing
  case unknownMember
  /// The value has another type than this one.
  case wrongType(JSONType)
  case notOneOf([String])
  case outOfRange(ClosedRange<Int>)
  /// The text doesn't have this many bytes.
  case wrongLength(ClosedRange<Int>)
  /// The day isn't of the form `2026-12-01`, doesn't exist, or is before ``Day/first``.
  case invalidDay
  case duplicatePool
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

  public enum JSONType: String, Sendable {
    case object
    case array
    case string
    case integer
    case boolean
  }
}
