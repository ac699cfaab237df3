import HTTP
import Identity
import Localization
import Templating

/// What someone else saved after a form was opened, next to what the form would replace it with.
///
/// The form itself keeps what was entered, and gets the present version: sending it again replaces the
/// values that are shown here.
struct SettingsConflict: ViewModel {
  /// The form's field with the version of the settings that it showed.
  static let field = "settings-version"

  struct Row: ViewModel {
    let label: Message
    let current: Markup
    let entered: Markup

    static let keys: Keys<Self> = [
      .text(\.label),
      .markup(\.current),
      .markup(\.entered),
    ]
  }

  let heading: Message
  let rows: [Row]
  /// The page with the present settings.
  let discard: String

  /// Compares the same settings in the same order.
  init(_ heading: Message, current: [Fact], entered: [Fact], discard: String) {
    self.heading = heading
    rows = zip(current, entered).filter { $0.value != $1.value }.map {
      Row(label: $0.label, current: $0.value, entered: $1.value)
    }
    self.discard = discard
  }

  static let keys: Keys<Self> = [
    .text(\.heading),
    .list(\.rows),
    .text(\.discard),
  ]
}

extension Form {
  /// The version of the settings that the form showed; one that no settings have if it's missing.
  var settingsVersion: SettingsVersion {
    SettingsVersion(sent: trimmed(SettingsConflict.field))
  }
}
