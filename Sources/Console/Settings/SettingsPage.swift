import HTTP
import Identity
import Templating

/// `S/settings`: name, sign-in methods, domains, keys, tokens, and the way to the end of it all.
struct SettingsPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<SettingsView>

  private static let historyLength = 5

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
    let fault = try await settings.change(
      context.scope, to: answers, by: context.signedIn.author)
    if let fault {
      let values = try await settings.read(context.scope)
      return try await page(context, values, answers, fault: fault)
    }
    frames.leave("The settings are saved.", for: context.signedIn)
    return .redirect(to: ConsolePaths.settings(context.scope))
  }

  private func page(
    _ context: ScopeContext, _ values: ScopeValues, _ answers: SettingsAnswers,
    fault: FieldError? = nil, isUnchanged: Bool = false
  ) async throws(Refusal) -> Response {
    let scope = context.scope
    var frame = try await frames.frame("Settings", in: context, tab: .settings)
    frame.errors = fault.map { [$0] } ?? []
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
            scope: scope, objectKind: scope.kindInSentence,
            objectID: scope.tenant?.text ?? scope.project.text), limit: Self.historyLength
        ).items : nil
    }
    let model = SettingsView(
      frame: frame, context: context, values: values, answers: answers, keys: keys,
      tokens: tokens, history: history, isUnchanged: isUnchanged)
    return .html(view.render(model), status: fault == nil ? .ok : .unprocessableContent)
  }
}
