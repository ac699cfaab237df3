import HTTP
import Identity
import Localization

struct AuditQuery: Sendable, Equatable {
  /// An actor type such as `user`, or an actor such as `administrator:{id}`.
  var actor: String
  /// An action group such as `policy`, or an action such as `policy.change`.
  var action: String
  var field: String
  var kind: String
  var object: String
  /// In the instance log, a project's ID, or those of a project and a tenant: `acme/eu-shop`.
  var pool: String
  var from: String
  var to: String
  let size: PageSize

  init(_ query: Form) {
    actor = query.trimmed("actor")
    let action = query.trimmed("action")
    // A link may have the name that an earlier version stored.
    self.action = AuditAction(stored: action)?.rawValue ?? action
    field = query.trimmed("field")
    kind = query.trimmed("kind")
    object = query.trimmed("object")
    pool = query.trimmed("pool")
    from = query.trimmed("from")
    to = query.trimmed("to")
    size = PageSize(query)
  }

  func form(without names: String...) -> Form {
    var form = Form()
    for (name, value) in [
      ("actor", actor), ("action", action), ("field", field), ("kind", kind), ("object", object),
      ("pool", pool), ("from", from), ("to", to),
    ] where !value.isEmpty && !names.contains(name) {
      form.add(name, value)
    }
    return form
  }

  /// The query of the list's first page: the filters and the size of a page.
  var list: Form { size.added(to: form()) }

  var isEmpty: Bool { form().isEmpty }

  var actorParts: (kind: String, id: String?) {
    guard let colon = actor.firstIndex(of: ":") else { return (actor, nil) }
    return (String(actor[..<colon]), String(actor[actor.index(after: colon)...]))
  }

  var poolIDs: (project: ID<Project>, tenant: ID<Tenant>?)? {
    guard !pool.isEmpty else { return nil }
    let parts = pool.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    return (ID(String(parts[0])), parts.count == 2 ? ID(String(parts[1])) : nil)
  }

  /// The filter, or the errors in the dates; no filter if the query names a kind of actor that
  /// doesn't exist, which no entry matches.
  func filter(in pool: Pool?, _ times: Times) -> (filter: AuditFilter?, faults: [FieldError]) {
    var filter = AuditFilter(pool: pool, objectID: object.isEmpty ? nil : object)
    if !kind.isEmpty { filter.objectKind = kind }
    let (actorKind, actorID) = actorParts
    (filter.actor, filter.actorID) = (Actor.Kind(rawValue: actorKind), actorID)
    if !action.isEmpty {
      filter.action = AuditGroup(rawValue: action).map { .any($0.actions) } ?? .one(action)
    }
    if !field.isEmpty { filter.fieldName = field }
    var faults: [FieldError] = []
    if !from.isEmpty, Day(from) == nil {
      faults.append(
        FieldError(
          field: "from",
          text: Message("Enter the start date as YYYY-MM-DD, such as 2026-11-03.")))
    }
    if !to.isEmpty, Day(to) == nil {
      faults.append(
        FieldError(
          field: "to",
          text: Message("Enter the end date as YYYY-MM-DD, such as 2026-11-03.")))
    }
    filter.from = Day(from).map { times.start(of: $0) }
    filter.until = Day(to).map { times.start(of: $0.next) }
    if let first = filter.from, let end = filter.until, end <= first {
      faults.append(
        FieldError(
          field: "to",
          text: Message("Choose an end date on or after the start date.")))
    }
    return (actor.isEmpty || filter.actor != nil ? filter : nil, faults)
  }
}
