import HTTP
import Localization
import Templating
import Text

/// A column of a table that can be hidden; the raw value is its name in a query.
protocol TableColumn: CaseIterable, Hashable, RawRepresentable<String>, Sendable {
  var heading: Message { get }
}

struct ColumnsForm: ViewModel {
  static let field = "column"

  let action: String
  let kept: Form
  let choices: [ColumnChoice]

  init<Column: TableColumn>(action: String, kept: Form, shown: Set<Column>) {
    self.action = action
    self.kept = kept
    choices = Column.allCases.map {
      ColumnChoice(value: $0.rawValue, heading: $0.heading, isShown: shown.contains($0))
    }
  }

  /// The columns that a query chooses; nil if it doesn't.
  ///
  /// An empty value marks a form without any.
  static func chosen(in query: Form) -> [String]? {
    let chosen = query.entries.filter { $0.name == UntrustedText(field) }.map(\.value.text)
    return chosen.isEmpty ? nil : chosen
  }

  static let keys: Keys<Self> = [
    .text(\.action),
    .list("kept") { HiddenField.all($0.kept) },
    .list(\.choices),
  ]
}

struct ColumnChoice: ViewModel {
  let value: String
  let heading: Message
  let isShown: Bool

  static let keys: Keys<Self> = [
    .text(\.value),
    .text(\.heading),
    .flag(\.isShown),
  ]
}
