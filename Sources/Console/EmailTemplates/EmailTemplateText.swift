import Identity
import Localization

/// The kinds, parts, variables, and faults of email templates as text.
enum EmailTemplateText {
  static func name(_ kind: EmailTemplate.Kind) -> Message {
    MessagesText.purpose(kind.rawValue) ?? .verbatim(kind.rawValue)
  }

  /// When the email is sent, and to whom.
  static func occasion(_ kind: EmailTemplate.Kind) -> Message {
    switch kind {
    case .resetPassword: Message("email-templates.when-reset-password")
    case .verifyEmail: Message("email-templates.when-verify-email")
    case .signIn: Message("email-templates.when-sign-in")
    case .verifyAndChangeEmail: Message("email-templates.when-verify-new-email")
    case .changeEmail: Message("email-templates.when-recover-email")
    case .revertSecondFactorAddition: Message("email-templates.when-revert-factor")
    case .enrollmentLink: Message("email-templates.when-enrollment-link")
    case .callerCode: Message("email-templates.when-caller-code")
    case .notice: Message("email-templates.when-notice")
    }
  }

  static func name(_ field: EmailTemplate.Field) -> Message {
    switch field {
    case .subject: Message("email-templates.subject")
    case .text: Message("email-templates.text")
    case .html: Message("email-templates.html")
    case .senderName: Message("email-templates.sender-name")
    case .replyTo: Message("email-templates.reply-to")
    }
  }

  static func meaning(_ variable: EmailVariable) -> Message {
    switch variable {
    case .link: Message("email-templates.variable-link")
    case .appName: Message("email-templates.variable-app-name")
    case .email: Message("email-templates.variable-email")
    case .newEmail: Message("email-templates.variable-new-email")
    case .displayName: Message("email-templates.variable-display-name")
    case .secondFactor: Message("email-templates.variable-second-factor")
    case .change: Message("email-templates.variable-change")
    case .report: Message("email-templates.variable-report")
    case .code: Message("email-templates.variable-code")
    case .agent: Message("email-templates.variable-agent")
    }
  }

  /// What's wrong with a template, next to the part that it's about.
  static func error(_ fault: EmailTemplateFault) -> FieldError {
    let part = Message.Value.message(name(fault.field))
    let text =
      switch fault {
      case .tooLong(let field):
        Message(
          "email-templates.too-long", ["part": part, "count": .number(field.longest)])
      case .controlCharacter: Message("email-templates.line-break", ["part": part])
      case .unknownVariable(_, let name):
        Message(
          "email-templates.unknown-variable",
          ["part": part, "variable": .text(Formatted.short(name, 60))])
      case .missingVariable(_, let variable):
        Message(
          "email-templates.missing-variable",
          ["part": part, "variable": .text(variable.rawValue)])
      case .invalidReplyTo: Message("email-templates.reply-to-invalid")
      case .element(let name):
        Message("email-templates.element", ["name": .text(Formatted.short(name, 60))])
      case .attribute(let name, let element):
        Message(
          "email-templates.attribute",
          ["name": .text(Formatted.short(name, 60)), "element": .text(element)])
      case .address(let address):
        Message("email-templates.address", ["address": .name(Formatted.short(address, 60))])
      }
    return FieldError(field: fault.field.rawValue, text: text)
  }
}
