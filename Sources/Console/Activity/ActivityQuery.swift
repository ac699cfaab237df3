import HTTP
import Identity
import Localization

struct ActivityQuery: Sendable {
  enum Results: String, CaseIterable, Sendable {
    case rejected, accepted, outside, incorrect, locked

    var text: Message {
      switch self {
      case .rejected: Message("Rejected")
      case .accepted: Message("Accepted")
      case .outside: Message("Outside the window")
      case .incorrect: Message("Incorrect or reused")
      case .locked: Message("Locked")
      }
    }

    var outcomes: Set<CodeAttempt.Outcome> {
      switch self {
      case .rejected: [.outside, .incorrect, .locked, .other]
      case .accepted: [.accepted]
      case .outside: [.outside]
      case .incorrect: [.incorrect]
      case .locked: [.locked, .other]
      }
    }
  }

  let results: Results?
  let kind: Factor.Kind?
  let day: String
  let size: PageSize

  init(_ query: Form) {
    results = Results(rawValue: query.trimmed("result"))
    kind = Factor.Kind(rawValue: query.trimmed("factor"))
    day = query.trimmed("day")
    size = PageSize(query)
  }

  func filter(_ times: Times) -> (filter: ActivityFilter, fault: FieldError?) {
    var filter = ActivityFilter(outcomes: results?.outcomes ?? [], kind: kind)
    guard !day.isEmpty else { return (filter, nil) }
    guard let date = Day(day) else {
      return (filter, FieldError(field: "day", text: Message("Enter a date such as 2026-12-01.")))
    }
    filter.from = times.start(of: date)
    filter.to = times.start(of: date.next)
    return (filter, nil)
  }

  var isEmpty: Bool { results == nil && kind == nil && day.isEmpty }

  func form(without name: String? = nil) -> Form {
    var form = Form()
    for (field, value) in [
      ("result", results?.rawValue ?? ""), ("factor", kind?.rawValue ?? ""), ("day", day),
    ] where !value.isEmpty && field != name {
      form.add(field, value)
    }
    return size.added(to: form)
  }

  func chosen(_ path: String) -> [Link] {
    var links: [Link] = []
    if let results {
      links.append(Link(text: results.text, href: form(without: "result").query(of: path)))
    }
    if let kind {
      links.append(
        Link(text: Self.text(kind), href: form(without: "factor").query(of: path)))
    }
    if let date = Day(day) {
      links.append(
        Link(
          text: Message.value(Times.value(date)), href: form(without: "day").query(of: path)))
    }
    return links
  }

  static func text(_ kind: Factor.Kind) -> Message {
    switch kind {
    case .totp: Message("TOTP")
    case .phone: .verbatim("SMS")
    }
  }
}
