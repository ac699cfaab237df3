import HTTP
import Identity

/// The query of an audit log's address as entered, to show in the form again or parse as a filter.
struct AuditQuery: Sendable, Equatable {
  /// An actor type such as `user`, or an actor such as `administrator:{id}`.
  var actor: String
  /// An action group such as `policy`, or an action such as `policy.change`.
  var action: String
  var kind: String
  var object: String
  var from: String
  var to: String

  init(_ query: Form) {
    actor = query.trimmed("actor")
    action = query.trimmed("action")
    kind = query.trimmed("kind")
    object = query.trimmed("object")
    from = query.trimmed("from")
    to = query.trimmed("to")
  }

  /// The query without empty fields and without the given names.
  func form(without names: String...) -> Form {
    var form = Form()
    for (name, value) in [
      ("actor", actor), ("action", action), ("kind", kind), ("object", object), ("from", from),
      ("to", to),
    ] where !value.isEmpty && !names.contains(name) {
      form.add(name, value)
    }
    return form
  }

  var isEmpty: Bool { form().isEmpty }

  /// The actor type, and the actor's ID if the query names one.
  var actorParts: (kind: String, id: String?) {
    guard let colon = actor.firstIndex(of: ":") else { return (actor, nil) }
    return (String(actor[..<colon]), String(actor[actor.index(after: colon)...]))
  }

  /// The filter, or the errors in the dates.
  func filter(in scope: Scope?, _ times: Times) -> (filter: AuditFilter, faults: [FieldError]) {
    var filter = AuditFilter(
      scope: scope, objectKind: kind.isEmpty ? nil : kind, objectID: object.isEmpty ? nil : object)
    if !actor.isEmpty { (filter.actorKind, filter.actorID) = actorParts }
    if !action.isEmpty { filter.action = action }
    var faults: [FieldError] = []
    for (name, words, text) in [("from", "start", from), ("to", "end", to)]
    where !text.isEmpty && Day(text) == nil {
      faults.append(
        FieldError(field: name, text: "Enter the \(words) date as YYYY-MM-DD, such as 2026-11-03."))
    }
    filter.from = Day(from).map { times.start(of: $0) }
    filter.until = Day(to).map { times.start(of: $0.next) }
    if let first = filter.from, let end = filter.until, end <= first {
      faults.append(
        FieldError(field: "to", text: "Choose an end date on or after the start date."))
    }
    return (filter, faults)
  }
}
