import HTTP
import Identity
import Localization
import Templating

/// `S/settings` and `S/settings/sign-in-methods`: show and change the settings of a pool.
struct SettingsPage: ConsolePage {
  enum Part: Sendable {
    case signInMethods, general

    var title: Message {
      switch self {
      case .signInMethods: Message("Sign-in methods")
      case .general: Message("Settings")
      }
    }

    var path: PoolPath0 {
      switch self {
      case .signInMethods: ConsolePaths.signInMethods
      case .general: ConsolePaths.settings
      }
    }
  }

  let parts: ConsoleParts
  let view: Template<SettingsView>
  let part: Part

  private static let historyLength = 5

  func show(_ context: PoolContext) async throws -> Response {
    let values = try await identity.pools.settings(of: context.pool)
    return try await page(context, values, SettingsAnswers(values))
  }

  func change(_ context: PoolContext) async throws -> Response {
    let (pool, signedIn) = (context.pool, context.signedIn)
    let answers = SettingsAnswers(signedIn.form)
    if answers.isChanged, answers.passwords.fault == nil {
      do {
        let outcome = try await identity.pools.update(
          project: pool.project, tenant: pool.tenant, by: .console(actions.request(signedIn))
        ) { (edit) throws(PoolError) in answers.apply(to: &edit) }
        return actions.leave(
          Message("Settings saved."), signedIn, after: outcome, to: part.path(pool))
      } catch {
        let (errors, asksForProof) = try ActionForms.settingsFaults(error, signedIn)
        let values = try await identity.pools.settings(of: pool)
        let outside =
          asksForProof
          ? try await identity.pools.leftOutside(project: pool.project, tenant: pool.tenant) {
            (edit) throws(PoolError) in answers.apply(to: &edit)
          } : nil
        return try await page(
          context, values, answers, errors: errors, asksForProof: asksForProof, outside: outside)
      }
    }
    let values = try await identity.pools.settings(of: pool)
    return try await page(
      context, values, answers, errors: [answers.passwords.fault].compactMap { $0 },
      isUnchanged: !answers.isChanged)
  }

  private func page(
    _ context: PoolContext, _ values: PoolSettings, _ answers: SettingsAnswers,
    errors: [FieldError] = [], asksForProof: Bool = false, outside: LeftOutside? = nil,
    isUnchanged: Bool = false
  ) async throws -> Response {
    let pool = context.pool
    var frame = try await frames.frame(part.title, in: context, errors: errors)
    if isUnchanged {
      frame.flash = Flash(
        text: Message("No changes made. These settings are already in effect."))
    }
    let history =
      try await part == .general && context.may(.readAudit)
      ? identity.audit.list(
        AuditFilter(
          pool: pool, object: pool.object, objectID: pool.objectID),
        limit: Self.historyLength
      ).items : nil
    let frameView = FrameView(frame)
    let fields =
      asksForProof
      ? try await actions.fields(
        outside == nil ? .weakenSettings : .narrowSignIn, context.signedIn, frameView) : nil
    let model = SettingsView(
      frame: frameView, part: part, context: context, values: values, answers: answers,
      history: history, fields: fields, outside: outside, carriesText: identity.messages.carriesText
    )
    return .html(view.render(model), errors: errors)
  }
}

extension LeftOutside {
  /// What a change that leaves users without a way to sign in asks for a reason with.
  var sentence: Message {
    guard !isCut else {
      return Message(
        "{count} or more users with a second factor would have no way to sign in.",
        ["count": .number(users)])
    }
    return Message(
      one: "{count} user with a second factor would have no way to sign in.",
      other: "{count} users with a second factor would have no way to sign in.",
      ["count": .number(users)])
  }

  var warning: Message {
    Message("{sentence} Nothing is saved yet.", ["sentence": .message(sentence)])
  }
}

extension Pools {
  func settings(of pool: Pool) async throws -> PoolSettings {
    do {
      return try await existingSettings(project: pool.project, tenant: pool.tenant)
    } catch is PoolError {
      throw Refusal.notFound
    }
  }
}

extension ActionForms {
  /// Why settings aren't saved, as field errors, and whether the administrator has to
  /// re-authenticate for a change that weakens security.
  ///
  /// Validation errors come first: whether a change requires re-authentication is known only once
  /// it's valid.
  static func settingsFaults(
    _ error: any Error, _ signedIn: SignedIn
  ) throws -> (errors: [FieldError], asksForProof: Bool) {
    switch error {
    case let reason as PoolError: ([try FieldError(reason)], false)
    case let refusal as ActionDenial: (try faults(refusal, .weakenSettings, signedIn), true)
    default: throw error
    }
  }
}

enum SettingsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let view = try parts.template("settings/settings", for: SettingsView.self)
    for part in [SettingsPage.Part.general, .signInMethods] {
      let page = SettingsPage(parts: parts, view: view, part: part)
      table.inside(part.path, .get(.seePool, needs: .hosting), page.show)
      table.inside(
        part.path, .performing(.changeSettings, .weakenSettings, .narrowSignIn), page.change)
    }

    let signInSwitch = SignInSwitchPage(identity: identity, actions: parts.actions)
    table.inside(ConsolePaths.signInSwitch, .get(.changePool, needs: .hosting), signInSwitch.ask)
    table.inside(ConsolePaths.signInDisabling, .performing(.disableSignIn), signInSwitch.disable)
    table.inside(ConsolePaths.signInEnabling, .performing(.enableSignIn), signInSwitch.enable)
  }
}

extension ConsolePaths {
  static let settings = PoolPath0("settings")
  static let signInMethods = PoolPath0("settings", "sign-in-methods")
  static let signInSwitch = PoolPath0("settings", "sign-in")
  static let signInDisabling = PoolPath0("settings", "sign-in", "disabling")
  static let signInEnabling = PoolPath0("settings", "sign-in", "enabling")
}
