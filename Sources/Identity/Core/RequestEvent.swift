/// What happened in a request that the server logs, beyond its response.
public enum RequestEvent: Sendable {
  /// It failed for a reason that isn't shown to the client.
  case failed(cause: String)
  case denied(Actor, lacking: Permission)
  /// An administrator's sign-in with the provider failed because of the provider.
  case providerFailed(diagnosis: String)
}
