import HTTP
import Identity

/// What the address of an audit log asks for, as typed: it can be shown again, or read as a filter.
struct AuditQuery: Sendable, Equatable {
  /// A kind of actor, `user`, or one actor, `administrator:{id}`.
  var actor: String
  /// A group of actions, `policy`, or one action, `policy.change`.
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

  /// The query that leads here again, without what is empty and without some names.
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

  /// Who is asked for: a kind, and an id where it is about one.
  var actorParts: (kind: String, id: String?) {
    guard let colon = actor.firstIndex(of: ":") else { return (actor, nil) }
    return (String(actor[..<colon]), String(actor[actor.index(after: colon)...]))
  }

  /// The filter, or what is wrong with the days.
  func filter(in scope: Scope?, _ times: Times) -> (filter: AuditFilter, faults: [FieldError]) {
    var filter = AuditFilter(
      scope: scope, objectKind: kind.isEmpty ? nil : kind, objectID: object.isEmpty ? nil : object)
    if !actor.isEmpty { (filter.actorKind, filter.actorID) = actorParts }
    if !action.isEmpty { filter.action = action }
    var faults: [FieldError] = []
    for (name, words, text) in [("from", "first", from), ("to", "last", to)]
    where !text.isEmpty && Day(text) == nil {
      faults.append(FieldError(field: name, text: "Write the \(words) day as 2026-11-03."))
    }
    filter.from = Day(from).map { times.start(of: $0) }
    filter.until = Day(to).map { times.start(of: $0.next) }
    if let first = filter.from, let end = filter.until, end <= first {
      faults.append(
        FieldError(field: "to", text: "Choose a last day that is not before the first."))
    }
    return (filter, faults)
  }
}
