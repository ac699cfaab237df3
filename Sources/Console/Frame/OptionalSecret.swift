import HTTP
import Localization
import Templating
import Text

/// A secret that a form can leave empty, as submitted.
///
/// Pages never contain secrets, so a form that's shown again lacks it. A hidden field says that one was
/// entered, so that it's entered again or left empty on purpose, instead of being dropped.
struct OptionalSecret: Sendable {
  let name: String
  private(set) var value = ""
  /// Whether one was entered, now or before the form was shown again.
  private(set) var wasEntered = false
  /// Whether the field is left empty although a secret was entered before.
  fileprivate var isOmitted = false

  init(_ name: String) { self.name = name }

  /// Reads it from a form; `value` is what was entered in its field, or nil if it's too long.
  init(_ name: String, _ value: String?, in form: Form) {
    self.name = name
    self.value = value ?? ""
    wasEntered = form[Self.entered(name)] != nil || !(form[name]?.isEmpty ?? true)
    isOmitted = self.value.isEmpty && form[Self.omitted(name)] != nil
  }

  /// Whether the form can't be accepted, because it lacks a secret that was entered.
  var isMissing: Bool { value.isEmpty && isLost }

  /// Whether the form lacks a secret when it's shown again.
  var isLost: Bool { wasEntered && !isOmitted }

  /// Returns the fields of a form that was kept without secrets, with fields that say which were
  /// entered.
  static func fields(_ kept: [Form.Entry], without names: [String]) -> [Form.Entry] {
    let markers = names.flatMap { [UntrustedText(entered($0)), UntrustedText(omitted($0))] }
    return kept.filter { !markers.contains($0.name) }
      + names.map { Form.Entry(name: entered($0), value: "yes") }
  }

  /// Whether a field only says something about one of these secrets.
  static func isAbout(_ names: Set<UntrustedText>, _ field: UntrustedText) -> Bool {
    names.contains { name in
      field == UntrustedText(entered(name.text)) || field == UntrustedText(omitted(name.text))
    }
  }

  fileprivate static func entered(_ name: String) -> String { "\(name)-entered" }
  fileprivate static func omitted(_ name: String) -> String { "\(name)-omitted" }
}

struct LostSecret: ViewModel {
  let secret: OptionalSecret
  /// What leaves the secret's field empty.
  let label: Message

  init?(_ secret: OptionalSecret, label: Message) {
    guard secret.wasEntered else { return nil }
    (self.secret, self.label) = (secret, label)
  }

  static let keys: Keys<Self> = [
    .text("entered") { OptionalSecret.entered($0.secret.name) },
    .text("omitted") { OptionalSecret.omitted($0.secret.name) },
    .flag("isOmitted") { $0.secret.isOmitted },
    .text(\.label),
  ]
}
