import HTTP
import Identity
import Localization
import Templating

/// `/account/preferences`: time zone and theme.
struct PreferencesPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<PreferencesView>

  func show(_ signedIn: SignedIn) async throws -> Response {
    await page(signedIn, signedIn.session.preferences, errors: [])
  }

  func change(_ signedIn: SignedIn) async throws -> Response {
    let old = signedIn.session.preferences
    var errors: [FieldError] = []
    let zone = signedIn.form.trimmed("zone")
    if !Zone.names.contains(zone), zone != old.timeZone {
      errors.append(FieldError(field: "zone", text: Message("Choose a time zone from the list.")))
    }
    let theme = Preferences.Theme(rawValue: signedIn.form.trimmed("theme"))
    if theme == nil {
      errors.append(FieldError(field: "theme", text: Message("Choose a theme.")))
    }
    let preferences = Preferences(timeZone: zone, theme: theme ?? old.theme)
    guard errors.isEmpty else { return await page(signedIn, preferences, errors: errors) }
    try await identity.ownAccount.change(
      preferences, of: signedIn.administrator, from: old, by: signedIn.author)
    var response = frames.leave(
      Message("Preferences saved."), for: signedIn, to: ConsolePaths.account())
    if let cookie = frames.cookies.newTheme(preferences.theme, for: signedIn.request) {
      response.set(cookie)
    }
    return response
  }

  private func page(
    _ signedIn: SignedIn, _ preferences: Preferences, errors: [FieldError]
  ) async -> Response {
    let frame = await frames.account(Message("Preferences"), signedIn, errors: errors)
    let model = PreferencesView(
      frame: FrameView(frame), preferences: preferences,
      saved: signedIn.session.preferences)
    return .html(view.render(model), errors: errors)
  }
}

enum PreferencesText {
  /// A zone that the system doesn't know says what replaces it.
  static func zone(_ name: String) -> Message {
    name == "UTC" || Zone.named(name) != nil
      ? .verbatim(name)
      : Message("{zone} (unknown to this server, which shows times in UTC)", ["zone": .text(name)])
  }

  static func theme(_ theme: Preferences.Theme) -> Message {
    switch theme {
    case .system: Message("Match system")
    case .light: Message("Light")
    case .dark: Message("Dark")
    }
  }
}

struct PreferencesView: ViewModel {
  let frame: FrameView
  let preferences: Preferences
  let saved: Preferences

  /// The zones, with the saved one if it's no longer in the list.
  private var zones: [String] {
    Zone.names.contains(saved.timeZone) ? Zone.names : [saved.timeZone] + Zone.names
  }

  private var section: SettingsSection {
    SettingsSection(
      id: "display", heading: Message("Display"),
      fields: [
        .menu(
          "zone", Message("Time zone"),
          hint: Message("Used for all dates and times, shown with the UTC offset."),
          zones.map { Field.Option(value: $0, label: PreferencesText.zone($0)) },
          value: preferences.timeZone
        ).over(saved.timeZone),
        .choice(
          "theme", Message("Theme"),
          Preferences.Theme.allCases.map {
            Field.Option(value: $0.rawValue, label: PreferencesText.theme($0))
          }, value: preferences.theme.rawValue
        ).over(saved.theme.rawValue),
      ])
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { _ in ConsolePaths.preferences() },
    .text("cancel") { _ in ConsolePaths.account() },
    .list("sections") { [$0.section.shown($0.frame)] },
  ]
}
