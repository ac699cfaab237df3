import HTTP
import Identity
import Localization
import Templating

/// A field of a form, with what was typed in it.
struct Field: ViewModel {
  enum Control: Sendable {
    case line
    case area
    /// One option, as radio buttons.
    case choice
    case menu
    case check
    /// A value that can only be read.
    case fact
    case hidden
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
    /// A number of a few digits.
    static let figure: StaticString =
      #" class="short num" inputmode="numeric" autocomplete="off""#
    static let title: StaticString = #" class="medium" autocomplete="off""#
    static let code: StaticString =
      #" class="mono" autocomplete="off" autocapitalize="off" spellcheck="false""#
  }

  struct Option: Sendable {
    let value: String
    let label: Message
    var hint: Message?
    /// Whether it chooses nothing.
    var isPrompt = false
  }

  struct Range: ViewModel {
    let first: Day
    let last: Day

    static let keys: Keys<Self> = [
      .text("first") { $0.first.description },
      .text("last") { $0.last.description },
    ]
  }

  let control: Control
  let name: String
  /// The ID, to which errors lead; the name for most fields.
  var id: String
  /// HTML, as is the hint.
  let label: Message
  let hint: Message?
  let attributes: StaticString
  var options: [Option] = []
  /// The days that can be entered; nil if the field isn't a date.
  var range: Range?
  /// Whether the text's direction is that of its first letter.
  var detectsDirection = false
  /// Whether the page of an error shows what was typed.
  var isKept = true
  var value = ""
  /// Whether a checkbox is selected, which then sends `value`.
  var isOn = false
  var error: Message?

  // What only settings have.

  /// What is stored, which a change is compared with; nil for a field of another form.
  var stored: String?
  /// Whether a change shows what is stored, which a secret's doesn't.
  var showsStored = true
  /// Whether the form also sends what was stored when it was opened.
  var sendsStored = false
  /// What the number counts.
  var unit: Message?
  /// Whether the control is below its label, as wide as the section.
  var isWide = false

  static func line(
    _ name: String, _ label: Message, hint: Message? = nil, _ look: StaticString = Look.plain,
    value: String = "", detectsDirection: Bool = false
  ) -> Field {
    Field(
      control: .line, name: name, id: name, label: label, hint: hint, attributes: look,
      detectsDirection: detectsDirection, value: value)
  }

  static func area(
    _ name: String, _ label: Message, hint: Message? = nil, _ look: StaticString,
    value: String = "", detectsDirection: Bool = false
  ) -> Field {
    Field(
      control: .area, name: name, id: name, label: label, hint: hint, attributes: look,
      detectsDirection: detectsDirection, value: value)
  }

  static func check(
    _ name: String, _ label: Message, hint: Message, isOn: Bool = false,
    value: String = "on"
  ) -> Field {
    Field(
      control: .check, name: name, id: name, label: label, hint: hint, attributes: "",
      value: value, isOn: isOn)
  }

  static func choice(
    _ name: String, _ label: Message, hint: Message? = nil, _ options: [Option],
    value: String = ""
  ) -> Field {
    Field(
      control: .choice, name: name, id: name, label: label, hint: hint, attributes: "",
      options: options, value: value)
  }

  static func menu(
    _ name: String, _ label: Message, hint: Message? = nil, _ options: [Option],
    value: String = ""
  ) -> Field {
    Field(
      control: .menu, name: name, id: name, label: label, hint: hint, attributes: "",
      options: options,
      value: value)
  }

  static func date(
    _ name: String, _ label: Message, hint: Message, _ range: Range, value: String = ""
  ) -> Field {
    Field(
      control: .line, name: name, id: name, label: label, hint: hint, attributes: "", range: range,
      value: value)
  }

  static func fact(_ name: String, _ label: Message, hint: Message, value: String) -> Field {
    Field(
      control: .fact, name: name, id: name, label: label, hint: hint, attributes: "", value: value)
  }

  static func hidden(_ field: HiddenField) -> Field {
    Field(
      control: .hidden, name: field.name, id: field.name, label: .verbatim(""), hint: nil,
      attributes: "",
      isKept: false, value: field.value)
  }

  /// Returns the field with its error and, so that no error loses it, with what was typed.
  func shown(_ typed: Form?, _ frame: FrameView) -> Field {
    var field = typed.map(filled) ?? self
    field.error = frame.error(at: id)
    return field
  }

  func filled(_ typed: Form) -> Field {
    guard isKept else { return self }
    var field = self
    guard control != .check else {
      field.isOn = typed.trimmed(name) == value
      return field
    }
    let value = control == .area ? typed.text(name) ?? "" : typed.trimmed(name)
    if control != .menu || options.contains(where: { $0.value == value }) { field.value = value }
    return field
  }

  /// What the form sends if nothing is changed.
  var current: String { control == .check ? Self.word(isOn) : value }

  private static func word(_ isOn: Bool) -> String { isOn ? "on" : "off" }

  func over(_ stored: String, isSent: Bool = false) -> Field {
    var field = self
    (field.stored, field.sendsStored) = (stored, isSent)
    return field
  }

  func over(_ isOn: Bool, isSent: Bool = false) -> Field { over(Self.word(isOn), isSent: isSent) }

  /// A field for another secret, which is empty until one is entered.
  func overSecret() -> Field {
    var field = over("")
    field.showsStored = false
    return field
  }

  func counting(_ unit: Message) -> Field {
    var field = self
    field.unit = unit
    return field
  }

  func wide() -> Field {
    var field = self
    field.isWide = true
    return field
  }

  /// The buttons of a setting of few values.
  private var picks: [FieldOption] {
    guard control == .check else { return choices }
    return [
      FieldOption(option: Option(value: "on", label: Message("On")), id: id, isChosen: isOn),
      FieldOption(
        option: Option(value: "off", label: Message("Off")), id: "\(id)-off", isChosen: !isOn),
    ]
  }

  private var choices: [FieldOption] {
    options.enumerated().map { index, option in
      FieldOption(
        option: option, id: index == 0 ? id : "\(id)-\(option.value)",
        isChosen: option.value == value && !option.isPrompt)
    }
  }

  private var element: String {
    switch control {
    case .area: "textarea"
    case .menu: "select"
    default: "input"
    }
  }

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.id),
    .markup("label") { Markup(html: $0.label) },
    .markup("hint") { $0.hint.map(Markup.init(html:)) },
    .flag("isHidden") { $0.control == .hidden },
    .flag("isChoice") { $0.control == .choice },
    .flag("isOne") { [.line, .area, .menu].contains($0.control) },
    .text("element") { $0.element },
    .markup("attributes") { Markup(trusted: $0.attributes.description) },
    .flag("isCheck") { $0.control == .check },
    .flag(\.isOn),
    .flag("isLine") { $0.control == .line },
    .flag("isArea") { $0.control == .area },
    .flag("isMenu") { $0.control == .menu },
    .optional(\.range),
    .flag(\.detectsDirection),
    .text(\.value),
    .text(\.error),
    .list("options") { $0.choices },
    .flag("isFact") { $0.control == .fact },
    .flag("isPick") { [.choice, .check].contains($0.control) },
    .list("picks") { $0.picks },
    .flag("isStored") { $0.stored != nil },
    .text(\.stored),
    .flag("showsStored") { $0.showsStored && $0.stored != nil && $0.control != .area },
    .flag(\.sendsStored),
    .text(\.unit),
    .flag("isWide") { $0.isWide || $0.control == .area },
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

struct HiddenField: ViewModel, Equatable {
  let name: String
  let value: String

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.value),
  ]
}

struct Choice: ViewModel {
  let value: String
  let text: Message
  var isChosen = false
  var id = ""

  static let keys: Keys<Self> = [
    .text(\.id),
    .text(\.value),
    .text(\.text),
    .flag(\.isChosen),
  ]
}
