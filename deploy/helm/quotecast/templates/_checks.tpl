{{- /* Fails with the remedy where the schema of values cannot tell. */ -}}
{{- define "quotecast.checks" -}}
{{- range list "QUOTECAST_HOST" "QUOTECAST_PORT" "QUOTECAST_FEED_PORT" "QUOTECAST_METRICS_HOST" "QUOTECAST_METRICS_PORT" }}
{{- if hasKey $.Values.settings . }}
{{- fail (printf "settings.%s: services, probes and network policies need the chart's own; remove it" .) }}
{{- end }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- if or (regexMatch "_(KEY|SECRET|PASSWORD|TOKEN)$" $name) (has $name (list "QUOTECAST_DATABASE_URL" "QUOTECAST_REDIS_URL")) }}
{{- fail (printf "settings.%s: put it into the secret %q, or name another in secrets.settings" $name $.Values.secrets.name) }}
{{- end }}
{{- end }}
{{- range list "QUOTECAST_DATABASE_URL" "QUOTECAST_REDIS_URL" }}
{{- if not (hasKey $.Values.secrets.settings .) }}
{{- fail (printf "secrets.settings.%s: migrations need it; use {} for the key of this name in secrets.name" .) }}
{{- end }}
{{- end }}
{{- range $name, $from := .Values.secrets.settings }}
{{- if not (or ($from).secret $.Values.secrets.name) }}
{{- fail (printf "secrets.settings.%s.secret: name the secret here, or a default in secrets.name" $name) }}
{{- end }}
{{- end }}
{{- with .Values.api.autoscaling }}
{{- if and .enabled (not (or .cpu .sockets .latenessMs)) }}
{{- fail "api.autoscaling: set cpu, sockets or latenessMs, or enabled=false" }}
{{- end }}
{{- if gt (int .minReplicas) (int .maxReplicas) }}
{{- fail "api.autoscaling: minReplicas is above maxReplicas" }}
{{- end }}
{{- end }}
{{- end }}
