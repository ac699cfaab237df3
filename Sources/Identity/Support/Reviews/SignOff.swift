import Crypto
import Database

/// An administrator's confirmation that they reviewed the policies of all pools of a project.
public struct SignOff: Sendable, Hashable {
  public let id: Int64
  public let project: ID<Project>
  public let signedAt: Instant
  public let reviewer: ID<Administrator>
  /// The reviewer's name at the time.
  public let reviewerName: String
  /// The reviewer's note; may be empty.
  public let note: String
  public let dueOn: Day
  /// The digest of the policies in hexadecimal digits.
  public let digest: String
  public let pools: Int
  /// The project's policy stamp at the time.
  let stamp: Int64

  /// The longest time until the next review, in days.
  public static let longestInterval = 366

  static let columns: SQL = """
    sign_off_id, project_id, signed_at, reviewer_id, reviewer_name, note, due_on, digest, pools,
      policy_stamp
    """

  init(_ row: inout Row) throws {
    id = try row.next()
    project = try row.next()
    signedAt = try row.next()
    reviewer = try row.next()
    reviewerName = try row.next()
    note = try row.next()
    guard let day = Day(try row.next()) else { throw Failure("a sign-off without a due day") }
    dueOn = day
    digest = Hex.encode(try row.next())
    pools = try row.next()
    stamp = try row.next()
  }

  /// Returns whether the next review is overdue: the day after the due day has begun in UTC.
  public func isOverdue(at now: Instant) -> Bool { Day(now) > dueOn }
}

/// The sign-off that a submitted form led to.
public struct SubmittedSignOff: Sendable {
  public let signOff: SignOff
  /// The latest sign-off, by someone who signed off after this one; nil if this is the latest.
  public let later: SignOff?
}

public struct ReviewStatus: Sendable, Hashable {
  public enum State: Sendable, Hashable {
    case never
    /// A policy changed, or a pool was created or deleted, since the last sign-off; the next review may
    /// be overdue as well.
    case changed(isOverdue: Bool)
    /// Nothing changed, but the next review is overdue.
    case overdue
    /// Nothing changed, and the next review isn't due yet.
    case current
  }

  public let signOff: SignOff?
  public let state: State
}

public enum ReviewError: Error, Sendable {
  /// The due day isn't one of the next ``SignOff/longestInterval`` days.
  case invalidDueDay
  /// The note is longer than ``ActionRequest/longestNote`` characters.
  case noteTooLong
  /// A policy changed after the reviewer opened the page.
  case changedMeanwhile
}
