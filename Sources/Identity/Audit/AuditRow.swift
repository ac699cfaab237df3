/// One change: who, what, where, from what to what, when, from which address.
public struct AuditRow: Sendable, Hashable {
  /// The row's number; rows of one database are numbered in the order of their changes.
  public let id: Int64
  /// When.
  public let at: Instant
  /// The kind of actor, such as "administrator".
  public let actorKind: String
  /// The actor's id; empty where there is none.
  public let actorID: String
  /// The actor's name at the time.
  public let actorName: String
  /// The project; nil for a change of the instance.
  public let project: ID<Project>?
  /// The tenant; nil for a change of the project or the instance.
  public let tenant: ID<Tenant>?
  /// What was done, as object and verb: `policy.change`.
  public let action: String
  /// The kind of thing it was done to: `scope`, `account`, `factor` and others.
  public let objectKind: String
  /// The thing's id.
  public let objectID: String
  /// The thing's name at the time, for people.
  public let objectName: String
  /// What it was before, in words.
  public let from: String?
  /// What it is now, in words.
  public let to: String?
  /// The reason given.
  public let reason: String?
  /// The note given.
  public let note: String?
  /// The address the request came from.
  public let address: String
  /// The id of the request.
  public let requestID: String
  /// The ticket that the agent gave.
  public let ticket: String?
  /// What the agent made sure of before, a line each.
  public let proof: String?
}

/// Why the audit log cannot be read.
public enum AuditError: Error, Sendable {
  /// The database cannot answer now.
  case unavailable(Failure)
}

extension AuditError: UseCaseError {}
