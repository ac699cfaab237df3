import HTTP
import Identity
import Localization
import Templating
import Text

/// The fields that every support action has: reason, note, ticket, identity checks, and the agent's
/// authenticator code if the last one is older than the re-authentication interval.
struct SupportForm: ViewModel {
  let frame: FrameView
  let eligibility: SupportEligibility
  let answers: ActionInput
  let action: String
  /// How the agent verifies the caller; nil where the pool doesn't offer it.
  var caller: CallerView?
  let reasons: [SupportReason]
  /// The field that confirms the user for an action that can't be undone.
  var confirmation: Field?

  private var options: [Field.Option] {
    reasons.map { Field.Option(value: $0.rawValue, label: $0.label) }
  }

  private var reason: Field {
    let prompt = Field.Option(value: "", label: Message("Choose a reason"), isPrompt: true)
    return Field.menu("reason", Message("Reason"), [prompt] + options, value: answers.reason)
      .shown(nil, frame)
  }

  /// The same, for a page with room for all reasons.
  private var listedReason: Field {
    Field.choice("reason", Message("Reason"), options, value: answers.reason).shown(nil, frame)
  }

  private var ticket: Field {
    Field.line(
      "ticket", Message("Ticket <span class=\"soft\">(optional)</span>"),
      #" class="ticket" autocomplete="off""#, value: answers.ticket, detectsDirection: true
    ).shown(nil, frame)
  }

  private var note: Field {
    Field.area(
      "note", Message("<span class=\"visually-hidden\">Note</span>"),
      hint: Message("Saved to the audit log. Don’t include codes or passwords."),
      #" rows="2""#, value: answers.note
    ).shown(nil, frame)
  }

  /// Whether the note is open from the start; the style sheet opens it for “Other”.
  private var opensNote: Bool { !answers.note.isEmpty || frame.error(at: "note") != nil }

  static let keys: Keys<Self> = [
    .optional(\.caller),
    .object("reason") { $0.reason },
    .object("listedReason") { $0.listedReason },
    .object("ticket") { $0.ticket },
    .object("note") { $0.note },
    .flag("opensNote") { $0.opensNote },
    .flag("hasProof") { !$0.eligibility.settings.identityProof.isEmpty },
    .list("proofs") { form in
      form.eligibility.settings.identityProof.enumerated().map { index, line in
        Choice(
          value: line, text: .verbatim(line),
          isChosen: form.answers.proofs.contains(UntrustedText(line)),
          // The first ID is the field's name, which the error summary links to.
          id: index == 0 ? "proof" : "proof-\(index)")
      }
    },
    .text("proofError") { $0.frame.error(at: "proof") },
    .optional(\.confirmation),
    .optional("codeField") {
      CodeField($0.eligibility.asksForCode, $0.frame, action: $0.action)
    },
  ]
}

extension SupportReason {
  var name: Message {
    switch self {
    case .lost: Message("Lost device")
    case .stolen: Message("Stolen device")
    case .compromised: Message("Compromised")
    case .replaced: Message("Replaced device")
    case .locked: Message("Codes rejected")
    case .left: Message("User left")
    case .found: Message("Device found")
    case .mistake: Message("Mistake")
    case .asked: Message("User request")
    case .enrollment: Message("New enrollment")
    case .confirmed: Message("Address confirmed")
    case .dataRequest: Message("Data request")
    case .resolved: Message("Incident resolved")
    case .other: Message("Other")
    }
  }

  /// When to choose it, after its name.
  var hint: Message {
    switch self {
    case .lost: Message("theft not suspected")
    case .stolen: Message("someone else may have it")
    case .compromised: Message("someone else may know the secret or a code")
    case .replaced: Message("the user has a new one to enroll")
    case .locked: Message("the user has the device, but its codes are rejected")
    case .left: Message("the user left the organization")
    case .found: Message("the user has the device again")
    case .mistake: Message("an earlier action was unintended")
    case .asked: Message("the user asked for it")
    case .enrollment: Message("the user doesn’t have a second factor yet")
    case .confirmed: Message("the user proved that it’s theirs")
    case .dataRequest: Message("the user asked for their data or its erasure")
    case .resolved: Message("the cause is known and fixed")
    case .other: Message("explained in the note")
    }
  }

  /// The name and when to choose it: “Lost device (theft not suspected)”.
  var label: Message {
    Message("{name} ({hint})", ["name": .message(name), "hint": .message(hint)])
  }
}

/// The fields for the end of a suspension or an exemption: a preset or a specific day.
struct EndFields {
  private enum Preset: String, CaseIterable {
    case today, tomorrow, days = "3-days", week, custom
  }

  private let chosen: String
  /// The day as entered, for the custom end.
  private let day: String
  private let today: Day
  private let now: Instant
  private let times: Times

  /// - Throws: ``Refusal/unreadableForm`` for an unknown time zone.
  init(_ target: PoolTarget, at now: Instant) throws {
    self.now = now
    times = try target.signedIn.times(of: target.form)
    chosen = Self.chosen(target)
    day = target.form.trimmed("day")
    today = times.calendarDay(of: now)
  }

  /// The end of the suspension; nil for invalid input.
  ///
  /// It's the end of a day, or this time of the last day that can be chosen.
  var moment: Instant? {
    guard let preset = Preset(rawValue: chosen) else { return nil }
    return (end(preset) ?? Day(day)).map(end)
  }

  /// A form that has only a day chooses it.
  private static func chosen(_ target: PoolTarget) -> String {
    let isCustom = !target.form.trimmed("day").isEmpty
    return target.form.text("until") ?? (isCustom ? Preset.custom : .tomorrow).rawValue
  }

  /// Returns an error about the end with the field that the end was taken from.
  static func placed(_ error: FieldError, _ target: PoolTarget) -> FieldError {
    guard error.field == "until", chosen(target) == Preset.custom.rawValue else { return error }
    return FieldError(field: "day", text: error.text)
  }

  private func end(_ day: Day) -> Instant {
    let end = times.start(of: day.next)
    guard day <= last else { return end }
    return min(end, now.advanced(bySeconds: Int64(Support.longestSuspension) * 86_400))
  }

  private var last: Day { today.after(Support.longestSuspension) }

  private func end(_ preset: Preset) -> Day? {
    switch preset {
    case .today: today
    case .tomorrow: today.next
    case .days: today.after(3)
    case .week: today.after(7)
    case .custom: nil
    }
  }

  private func option(_ preset: Preset) -> Field.Option {
    let date = end(preset).map { Times.value($0) } ?? .text("")
    let label =
      switch preset {
      case .today: Message("End of today, {date}", ["date": date])
      case .tomorrow: Message("End of tomorrow, {date}", ["date": date])
      case .days: Message("In 3 days, {date}", ["date": date])
      case .week: Message("In 7 days, {date}", ["date": date])
      case .custom: Message("Custom…")
      }
    return Field.Option(value: preset.rawValue, label: label)
  }

  var fields: [Field] {
    [
      .hidden(times.hiddenZone),
      .menu(
        "until", Message("Until"), Preset.allCases.map(option), value: Preset.tomorrow.rawValue),
      .date(
        "day", Message("Custom end date"),
        hint: Message(
          "For “Custom…”: through the end of that day, at most {longest} days from today.",
          ["longest": .number(Support.longestSuspension)]),
        Field.Range(first: today, last: last)),
    ]
  }
}

extension Day {
  func after(_ days: Int) -> Day { (0..<days).reduce(self) { day, _ in day.next } }
}

struct CodeField: ViewModel {
  let id: String
  let error: Message?
  /// The form's address, under which its fields are kept while a passkey or the provider is used
  /// instead; nil if the form doesn't offer that.
  let action: String?
  let alternatives: CodeAlternatives?

  /// Creates the field; nil while the last code is within the re-authentication interval.
  init?(_ isDue: Bool, _ frame: FrameView, id: String = "code", action: String?) {
    guard isDue else { return nil }
    self.id = id
    self.action = action
    error = frame.error(at: id)
    alternatives = action == nil ? nil : CodeAlternatives(frame)
  }

  static let keys: Keys<Self> = [
    .text(\.id),
    .text(\.error),
    .text(\.action),
    .optional(\.alternatives),
  ]
}

extension Field {
  /// The field that confirms the user for an action that can't be undone.
  static func confirmation(of account: Account) -> Field {
    let uid = Message.Value.text(account.id.text)
    guard let email = account.email else {
      return .line(
        "confirmation", Message("Enter the UID <bdi class=\"mono\">{uid}</bdi>", ["uid": uid]),
        hint: Message("Prevents accidental deletion."), Look.exact)
    }
    return .line(
      "confirmation",
      Message("Enter the email address <bdi>{email}</bdi>", ["email": .text(email)]),
      hint: Message(
        "Or the UID <span class=\"mono\">{uid}</span>. Prevents accidental deletion.", ["uid": uid]),
      Look.exact)
  }

  /// Returns an error of the field that confirms the user with its text.
  static func placedConfirmation(_ error: FieldError, _ target: PoolTarget) -> FieldError {
    guard error.field == "confirmation" else { return error }
    return FieldError(
      field: error.field,
      text: target.form.trimmed("confirmation").isEmpty
        ? Message("Enter the user’s email address or UID.")
        : Message("This isn’t the user’s email address or UID. Enter one of them."))
  }
}

/// Why a form isn't offered or has no effect, and what the reader can do about it.
struct Notice: ViewModel {
  let sentence: Message
  var link: Link?
  /// Whether the page offers to ask an owner to unblock the agent.
  var asksForRelease = false
  /// How bad it is, as where all that needs attention is listed; nil if it isn't there.
  var severity: SeverityMark?

  init(_ sentence: Message, link: Link? = nil) { (self.sentence, self.link) = (sentence, link) }

  init?(_ eligibility: SupportEligibility, _ signedIn: SignedIn) {
    if let refusal = eligibility.refusal {
      self.init(ActionErrorText.sentence(refusal))
    } else if eligibility.isHeld {
      self.init(ActionErrorText.sentence(.held))
    } else if eligibility.actionsLeft == 0 {
      self.init(
        Message(
          one: """
            You’ve reached the limit of {count} action per hour. You can continue an hour after \
            it.
            """,
          other: """
            You’ve reached the limit of {count} actions per hour. You can continue an hour after \
            the first of them.
            """,
          ["count": .number(eligibility.settings.actionsPerHour)]))
      asksForRelease = true
    } else {
      self.init(lackingCode: eligibility.asksForCode, signedIn)
    }
  }

  init?(lackingCode isDue: Bool, _ signedIn: SignedIn) {
    guard isDue, !signedIn.session.factors.contains(.totp) else { return nil }
    if let address = signedIn.passkeyReauthentication {
      sentence = ActionErrorText.passkeyFirst
      link = Link(text: Message("Use your passkey"), href: address)
      return
    }
    if let provider = signedIn.providerReauthentication {
      sentence = Message("Confirm your identity to continue.")
      link = Link(
        text: Message("Confirm with {name}", ["name": .name(Formatted.short(provider.name))]),
        href: provider.href)
      return
    }
    sentence = ActionErrorText.sentence(.noSecondFactor)
    link = Link(
      text: Message("Set up your authenticator app"), href: signedIn.ownFactor)
  }

  static let keys: Keys<Self> = [
    .text(\.sentence),
    .optional(\.link),
    .optional(\.severity),
    .flag(\.asksForRelease),
    .text("roles") { _ in Message.value(Permission.protectUsers.roleNames) },
  ]
}
