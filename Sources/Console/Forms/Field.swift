import HTTP
import Localization
import Templating

/// A field of a form, with what was typed in it.
struct Field: ViewModel {
  enum Control: Sendable {
    case line
    case area
    /// One option, as radio buttons.
    case choice
  }

  /// Attributes of a control that differ between fields.
  enum Look {
    static let plain: StaticString = #" autocomplete="off""#
    /// An identifier, which browsers would otherwise correct.
    static let exact: StaticString = #" autocomplete="off" autocapitalize="off" spellcheck="false""#
    static let email: StaticString =
      #" type="email" autocomplete="off" autocapitalize="off" spellcheck="false""#
    static let medium: StaticString =
      #" class="medium" autocomplete="off" autocapitalize="off" spellcheck="false""#
    static let code: StaticString =
      #" class="mono" autocomplete="off" autocapitalize="off" spellcheck="false""#
  }

  struct Option: Sendable {
    let value: String
    let label: Message
    let hint: Message
  }

  let control: Control
  /// The name in the form, which is also the ID.
  let name: String
  /// HTML, as is the hint.
  let label: Message
  let hint: Message?
  let attributes: StaticString
  let options: [Option]
  /// Whether the page of an error shows what was typed.
  var isKept = true
  var value = ""
  var error: Message?

  static func line(
    _ name: String, _ label: Message, hint: Message? = nil, _ look: StaticString = Look.plain
  ) -> Field {
    Field(
      control: .line, name: name, label: label, hint: hint, attributes: look, options: [])
  }

  static func area(
    _ name: String, _ label: Message, hint: Message? = nil, _ look: StaticString
  ) -> Field {
    Field(
      control: .area, name: name, label: label, hint: hint, attributes: look, options: [])
  }

  static func choice(
    _ name: String, _ label: Message, hint: Message, _ options: [Option]
  ) -> Field {
    Field(
      control: .choice, name: name, label: label, hint: hint, attributes: "", options: options)
  }

  /// Returns the field with its error and, so that no error loses it, with what was typed.
  func shown(_ signedIn: SignedIn, _ frame: FrameView) -> Field {
    var field = self
    field.error = frame.error(at: name)
    if isKept, !signedIn.request.isReading {
      let form = signedIn.form
      field.value = control == .area ? form.text(name) ?? "" : form.trimmed(name)
    }
    return field
  }

  static let keys: Keys<Self> = [
    .text(\.name),
    .markup("label") { Markup(html: $0.label) },
    .markup("hint") { $0.hint.map(Markup.init(html:)) },
    .flag("isChoice") { $0.control == .choice },
    .text("element") { $0.control == .area ? "textarea" : "input" },
    .markup("attributes") { Markup(trusted: $0.attributes.description) },
    .flag("isArea") { $0.control == .area },
    .text(\.value),
    .text(\.error),
    .list("options") { field in
      field.options.enumerated().map { index, option in
        FieldOption(
          option: option, id: index == 0 ? field.name : "\(field.name)-\(option.value)",
          isChosen: option.value == field.value)
      }
    },
  ]
}

struct FieldOption: ViewModel {
  let option: Field.Option
  /// The first option's is the field's name, which the error summary links to.
  let id: String
  let isChosen: Bool

  static let keys: Keys<Self> = [
    .text(\.id),
    .text("value") { $0.option.value },
    .text("label") { $0.option.label },
    .text("hint") { $0.option.hint },
    .flag(\.isChosen),
  ]
}
