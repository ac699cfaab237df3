import Crypto
import Database

/// An administrator's confirmation that they reviewed the policies of all pools of a project.
public struct SignOff: Sendable, Hashable {
  /// The number.
  public let id: Int64
  /// The project.
  public let project: ID<Project>
  /// The time.
  public let signedAt: Instant
  /// The reviewer.
  public let reviewer: ID<Administrator>
  /// The reviewer's name at the time.
  public let reviewerName: String
  /// The reviewer's note; may be empty.
  public let note: String
  /// The day on which the next review is due.
  public let dueOn: Day
  /// The digest of the policies in hexadecimal digits.
  public let digest: String
  /// The number of pools.
  public let pools: Int
  /// The project's policy stamp at the time.
  let stamp: Int64

  /// The longest time until the next review, in days.
  public static let longestInterval = 366

  static let columns: SQL = """
    sign_off_id, project_id, signed_at, reviewer_id, reviewer_name, note, due_on, digest, pools,
      policy_stamp
    """

  init(_ row: borrowing Row) throws {
    id = try row.value(0)
    project = ID(try row.value(1))
    signedAt = Instant(microseconds: try row.value(2))
    reviewer = ID(try row.value(3))
    reviewerName = try row.value(4)
    note = try row.value(5)
    guard let day = Day(try row.value(6)) else { throw Failure("a sign-off without a due day") }
    dueOn = day
    digest = Hex.encode(try row.value(7))
    pools = try row.value(8)
    stamp = try row.value(9)
  }

  /// Returns whether the next review is overdue: the day after the due day has begun in UTC.
  public func isOverdue(at now: Instant) -> Bool { Day(now) > dueOn }
}

/// The sign-off that a submitted form led to.
public struct SubmittedSignOff: Sendable {
  /// The sign-off.
  public let signOff: SignOff
  /// The latest sign-off, by someone who signed off after this one; nil if this is the latest.
  public let later: SignOff?
}

/// Whether the current policies of a project were reviewed.
public struct ReviewStatus: Sendable, Hashable {
  /// A state of a project's review.
  public enum State: Sendable, Hashable {
    /// Never reviewed.
    case never
    /// A policy changed, or a pool was created or deleted, since the last sign-off; the next review may
    /// be overdue as well.
    case changed(isOverdue: Bool)
    /// Nothing changed, but the next review is overdue.
    case overdue
    /// Nothing changed, and the next review isn't due yet.
    case current
  }

  /// The last sign-off; nil if there's none.
  public let signOff: SignOff?
  /// The state.
  public let state: State
}

/// Why a review can't be read or signed off.
public enum ReviewError: Error, Sendable {
  /// The project doesn't exist.
  case projectNotFound
  /// The due day isn't one of the next ``SignOff/longestInterval`` days.
  case invalidDueDay
  /// The note is longer than ``ActionRequest/longestNote`` characters.
  case noteTooLong
  /// A policy changed after the reviewer opened the page.
  case changedMeanwhile
  /// The database is unavailable.
  case unavailable(Failure)
}

extension ReviewError: UseCaseError {}
