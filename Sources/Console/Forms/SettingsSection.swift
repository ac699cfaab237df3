import Localization
import Templating

/// Settings that belong together, as fields and, for readers, as facts.
struct SettingsSection: ViewModel {
  let id: String
  let heading: Message
  var lead: Message?
  var fields: [Field] = []
  var facts: [Fact] = []

  /// Returns the section with the errors of its fields.
  func shown(_ frame: FrameView) -> SettingsSection {
    var section = self
    section.fields = fields.map { $0.shown(nil, frame) }
    return section
  }

  static let keys: Keys<Self> = [
    .text(\.id),
    .text(\.heading),
    .text(\.lead),
    .list(\.fields),
    .list(\.facts),
  ]
}

/// How the bar of a form counts unsaved changes: of the form, and of a section.
struct UnsavedCount: ViewModel {
  /// The number of settings that one page can have.
  private static let most = 20

  private let count: Int

  static let all = (1...most).map(UnsavedCount.init)

  static func ofForm(_ count: Int) -> Message {
    Message(
      one: "{count} unsaved change:", other: "{count} unsaved changes:",
      ["count": .number(count)])
  }

  static let keys: Keys<Self> = [
    .text("ofForm") { ofForm($0.count) },
    .text("ofSection") {
      Message(
        one: "{count} change", other: "{count} changes", ["count": .number($0.count)])
    },
  ]
}
