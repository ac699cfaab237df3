import HTTP
import Identity
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
    let values = try await ScopeSettings(identity: identity).read(context.scope)
    return try await page(context, values, SettingsAnswers(values))
  }

  func change(_ context: ScopeContext) async throws(Refusal) -> Response {
    let answers = SettingsAnswers(context.signedIn.form)
    let settings = ScopeSettings(identity: identity)
    guard answers.isChanged else {
      let values = try await settings.read(context.scope)
      return try await page(context, values, answers, isUnchanged: true)
    }
    let signedIn = context.signedIn
    switch try await settings.change(context.scope, to: answers, actions, signedIn) {
    case .success(let outcome):
      return actions.leave(
        "Settings saved.", signedIn, after: outcome,
        to: ConsolePaths.settings(context.scope))
    case .failure(let faults):
      let values = try await settings.read(context.scope)
      return try await page(context, values, answers, faults: faults)
    }
  }

  private func page(
    _ context: ScopeContext, _ values: ScopeValues, _ answers: SettingsAnswers,
    faults: SettingsFaults? = nil, isUnchanged: Bool = false
  ) async throws(Refusal) -> Response {
    let scope = context.scope
    var frame = try await frames.frame("Settings", in: context, tab: .settings)
    frame.errors = faults?.errors ?? []
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
            scope: scope, object: scope.tenant == nil ? .project : .tenant,
            objectID: scope.tenant?.text ?? scope.project.text), limit: Self.historyLength
        ).items : nil
    }
    let frameView = FrameView(frame)
    let fields =
      faults?.asksForProof == true
      ? try await actions.fields(.weakenSettings, context.signedIn, frameView) : nil
    let model = SettingsView(
      frame: frameView, context: context, values: values, answers: answers, keys: keys,
      tokens: tokens, history: history, isUnchanged: isUnchanged, fields: fields)
    return .html(view.render(model), status: faults == nil ? .ok : .unprocessableContent)
  }
}
