import HTTP
import Templating

/// The search field above a list.
///
/// It is a GET form, so that what is shown can be mailed.
struct FilterView: ViewModel {
  let action: String
  let label: String
  let query: String
  /// Leads back to the whole list; nil when nothing was searched for.
  let clear: String?
  /// What else the list is asked for, which a search keeps.
  let kept: Form

  init(action: String, label: String, query: String, keeping kept: Form = Form()) {
    self.action = action
    self.label = label
    self.query = query
    self.kept = kept
    clear = query.isEmpty ? nil : kept.query(of: action)
  }

  static let keys: Keys<Self> = [
    .text("action") { $0.action },
    .text("label") { $0.label },
    .text("query") { $0.query },
    .text("clear") { $0.clear },
    .list("kept") { $0.kept.entries.map { HiddenField(name: $0.name.text, value: $0.value.text) } },
  ]
}

/// The foot of a list that is read in parts, by key and never by number.
struct PagerView: ViewModel {
  let count: String
  let first: String?
  let next: String?

  /// - Parameters:
  ///   - shown: How many of what are shown, in words.
  ///   - path: The list's address.
  ///   - query: What the list was asked for, without the place.
  ///   - after: The place where this part begins; nil at the start.
  ///   - next: The place where the next part begins; nil at the end.
  init(shown: String, path: String, query: Form, after: String?, next: String?) {
    count = next == nil && after == nil ? shown : shown + " on this page"
    first = after == nil ? nil : query.query(of: path)
    self.next = next.map { place in
      var query = query
      query.add("after", place)
      return query.query(of: path)
    }
  }

  static let keys: Keys<Self> = [
    .text("count") { $0.count },
    .text("first") { $0.first },
    .text("next") { $0.next },
  ]
}

/// What stands where a list would be: what it is, and the one thing to do.
struct EmptyView: ViewModel {
  let heading: String
  let sentence: String
  var link: EmptyLink?

  static let keys: Keys<Self> = [
    .text("heading") { $0.heading },
    .text("sentence") { $0.sentence },
    .optional("link") { $0.link },
  ]
}

/// The one thing to do about an empty list.
struct EmptyLink: ViewModel {
  let text: String
  let href: String
  var isPrimary = false

  static let keys: Keys<Self> = [
    .text("text") { $0.text },
    .text("href") { $0.href },
    .flag("isPrimary") { $0.isPrimary },
  ]
}

/// A fact about a thing: its name and what it is.
struct Fact: ViewModel {
  let label: String
  let value: Markup

  init(_ label: String, _ value: Markup) {
    self.label = label
    self.value = value
  }

  init(_ label: String, _ text: String) {
    self.init(label, HTML.escaped(text))
  }

  static let keys: Keys<Self> = [
    .text("label") { $0.label },
    .markup("value") { $0.value },
  ]
}

extension Form {
  /// The text of a field with the blanks around it dropped; empty when the field is missing.
  func trimmed(_ name: String) -> String {
    // Too long is for the page to say, with what was typed still in the field.
    var rest = (text(name, atMost: Form.longestText) ?? "").unicodeScalars[...]
    while let first = rest.first, first.properties.isWhitespace { rest.removeFirst() }
    while let last = rest.last, last.properties.isWhitespace { rest.removeLast() }
    return String(rest)
  }
}
