// View models have messages, so their modules need the type.
@_exported public import Localization
