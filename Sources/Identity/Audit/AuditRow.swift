/// One change in the audit log: actor, action, resource, values before and after, time, and source.
public struct AuditRow: Sendable, Hashable {
  /// The row's number; numbers increase in the order of the changes.
  public let id: Int64
  /// The time of the change.
  public let at: Instant
  /// The kind of actor, such as "administrator".
  public let actorKind: String
  /// The actor's ID; empty if there is none.
  public let actorID: String
  /// The actor's name at the time.
  public let actorName: String
  /// The project; nil for a change to the instance.
  public let project: ID<Project>?
  /// The tenant; nil for a change to the project or the instance.
  public let tenant: ID<Tenant>?
  /// The action, as object and verb, such as `policy.change`.
  public let action: String
  /// The resource type, such as `scope`, `account`, or `factor`.
  public let objectKind: String
  /// The resource ID.
  public let objectID: String
  /// The resource's display name at the time.
  public let objectName: String
  /// The value before the change, as text.
  public let from: String?
  /// The value after the change, as text.
  public let to: String?
  /// The reason.
  public let reason: String?
  /// The note.
  public let note: String?
  /// The source IP address.
  public let address: String
  /// The request ID.
  public let requestID: String
  /// The agent's ticket.
  public let ticket: String?
  /// The identity checks that the agent completed, one per line.
  public let proof: String?
}

/// An error in reading the audit log.
public enum AuditError: Error, Sendable {
  /// The database is unavailable.
  case unavailable(Failure)
}

extension AuditError: UseCaseError {}
