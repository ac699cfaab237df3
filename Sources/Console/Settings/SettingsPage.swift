import HTTP
import Identity
import Localization
import Templating

/// `S/settings`: shows and changes the settings of a scope, and lists its API keys and service
/// tokens.
struct SettingsPage: Sendable {
  let identity: Identity
  let actions: ActionForms
  let view: Template<SettingsView>

  private static let historyLength = 5
  private var frames: Frames { actions.frames }

  func show(_ context: ScopeContext) async throws(Refusal) -> Response {
    let values = try await identity.pools.settings(of: context.scope)
    return try await page(context, values, SettingsAnswers(values))
  }

  func change(_ context: ScopeContext) async throws(Refusal) -> Response {
    let (scope, signedIn) = (context.scope, context.signedIn)
    let answers = SettingsAnswers(signedIn.form)
    if answers.isChanged, answers.passwords.fault == nil {
      do {
        let outcome = try await identity.pools.update(
          project: scope.project, tenant: scope.tenant, actions.request(signedIn)
        ) { (edit) throws(UserPoolError) in answers.apply(to: &edit) }
        return actions.leave(
          Message("settings.saved"), signedIn, after: outcome, to: ConsolePaths.settings(scope))
      } catch {
        let (errors, asksForProof) = try ActionForms.settingsFaults(error, signedIn)
        let values = try await identity.pools.settings(of: scope)
        return try await page(
          context, values, answers, errors: errors, asksForProof: asksForProof)
      }
    }
    let values = try await identity.pools.settings(of: scope)
    return try await page(
      context, values, answers, errors: [answers.passwords.fault].compactMap { $0 },
      isUnchanged: !answers.isChanged)
  }

  private func page(
    _ context: ScopeContext, _ values: UserPool, _ answers: SettingsAnswers,
    errors: [FieldError] = [], asksForProof: Bool = false, isUnchanged: Bool = false
  ) async throws(Refusal) -> Response {
    let scope = context.scope
    var frame = try await frames.frame(Message("settings.settings"), in: context, tab: .settings)
    frame.errors = errors
    let mayManageKeys = context.may(.manageKeys)
    let keys = try await refusing {
      mayManageKeys && scope.tenant == nil ? try await identity.apiKeys.list(scope.project) : []
    }
    let tokens = try await refusing {
      mayManageKeys
        ? try await identity.serviceTokens.list(scope.project, tenant: scope.tenant) : []
    }
    let history = try await refusing {
      context.may(.readAudit)
        ? try await identity.audit.list(
          AuditFilter(
            scope: scope, object: scope.object, objectID: scope.objectID),
          limit: Self.historyLength
        ).items : nil
    }
    let frameView = FrameView(frame)
    let fields =
      asksForProof
      ? try await actions.fields(.weakenSettings, context.signedIn, frameView) : nil
    let model = SettingsView(
      frame: frameView, context: context, values: values, answers: answers, keys: keys,
      tokens: tokens, history: history, isUnchanged: isUnchanged, fields: fields)
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

extension UserPools {
  /// Returns the settings of a pool.
  func settings(of scope: Scope) async throws(Refusal) -> UserPool {
    do { return try await find(project: scope.project, tenant: scope.tenant) } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
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
    _ error: ActionError<UserPoolError>, _ signedIn: SignedIn
  ) throws(Refusal) -> (errors: [FieldError], asksForProof: Bool) {
    switch error {
    case .failed(let reason): ([try FieldError(reason)], false)
    case .refused(let refusal): (try faults(refusal, .weakenSettings, signedIn), true)
    }
  }
}
