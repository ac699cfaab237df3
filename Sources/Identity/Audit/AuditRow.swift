/// A class, because each page of the log copies its rows, and one has more than twenty fields.
public final class AuditRow: Sendable {
  /// The row's number; numbers increase in the order of the changes.
  public let id: Int64
  public let at: Instant
  /// The kind of actor; nil if it's unknown.
  public let actor: Actor.Kind?
  public let actorKind: String
  /// The actor's ID; empty if there is none.
  public let actorID: String
  /// The actor's name at the time.
  public let actorName: String
  /// The project; nil for a change to the instance.
  public let project: ID<Project>?
  /// The tenant; nil for a change to the project or the instance.
  public let tenant: ID<Tenant>?
  public let action: AuditAction?
  /// The stored name of the action, as object and verb, such as `policy.change`.
  public let actionName: String
  public let object: AuditResource?
  public let objectKind: String
  public let objectID: String
  /// The resource's display name at the time.
  public let objectName: String
  public let changes: [AuditChange]
  /// The value before the change as text, in rows of earlier versions.
  public let legacyFrom: String?
  /// The value after the change as text, in rows of earlier versions.
  public let legacyTo: String?
  public let reason: String?
  public let note: String?
  public let address: String
  public let requestID: String
  public let ticket: String?
  /// The identity checks that the agent completed, one per line.
  public let proof: String?

  init(
    id: Int64,
    at: Instant,
    actor: Actor.Kind?,
    actorKind: String,
    actorID: String,
    actorName: String,
    project: ID<Project>?,
    tenant: ID<Tenant>?,
    action: AuditAction?,
    actionName: String,
    object: AuditResource?,
    objectKind: String,
    objectID: String,
    objectName: String,
    changes: [AuditChange],
    legacyFrom: String?,
    legacyTo: String?,
    reason: String?,
    note: String?,
    address: String,
    requestID: String,
    ticket: String?,
    proof: String?
  ) {
    self.id = id
    self.at = at
    self.actor = actor
    self.actorKind = actorKind
    self.actorID = actorID
    self.actorName = actorName
    self.project = project
    self.tenant = tenant
    self.action = action
    self.actionName = actionName
    self.object = object
    self.objectKind = objectKind
    self.objectID = objectID
    self.objectName = objectName
    self.changes = changes
    self.legacyFrom = legacyFrom
    self.legacyTo = legacyTo
    self.reason = reason
    self.note = note
    self.address = address
    self.requestID = requestID
    self.ticket = ticket
    self.proof = proof
  }
}
